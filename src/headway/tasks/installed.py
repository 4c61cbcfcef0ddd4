"""What the package asks for, by its own metadata, and which of it is installed."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from packaging.requirements import Requirement


@dataclass(frozen=True)
class Package:
    """A package that is asked for, in certain versions."""

    requirement: Requirement

    @property
    def name(self) -> str:
        """As pip knows it."""
        return self.requirement.name

    @property
    def version(self) -> str | None:
        """The one that is installed."""
        return installed_version(self.name)

    @property
    def is_right(self) -> bool:
        """Whether a version that will do is installed."""
        return self.version is not None and self.requirement.specifier.contains(self.version, prereleases=True)

    @property
    def wanted(self) -> str:
        """As pip takes it."""
        return f"{self.name}{self.requirement.specifier}"

    def __str__(self) -> str:
        if self.is_right:
            return f"{self.name} {self.version}"
        return f"{self.wanted} ({self.version} is installed)" if self.version else self.wanted


def installed_version(name: str) -> str | None:
    """The version of a package, without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def own_requirements() -> list[str]:
    """What the metadata of the installed package asks for; nothing if it runs without being installed."""
    try:
        return requires("headway") or []
    except PackageNotFoundError:
        return []


def own_extras() -> list[str]:
    """The names of the extras, by the same metadata."""
    try:
        return metadata("headway").get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return []


def packages(requirements: Iterable[str], extra: str = "") -> list[Package]:
    """Those that are needed on this machine: always, or those that an extra adds."""
    parsed = [Requirement(each) for each in requirements]
    always = [each for each in parsed if each.marker is None or each.marker.evaluate({"extra": ""})]
    if not extra:
        return [Package(each) for each in always]
    return [
        Package(each)
        for each in parsed
        if each not in always and each.marker is not None and each.marker.evaluate({"extra": extra})
    ]
