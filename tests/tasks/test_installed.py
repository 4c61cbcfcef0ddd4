import pytest
from packaging.requirements import Requirement

from headway.tasks.installed import Package, installed_version, own_requirements, packages

REQUIREMENTS = [
    "numpy>=1.0",
    "rich>=1; python_version >= '3'",
    "colours>=1; sys_platform == 'no-such-system'",
    "fastapi>=0.115; extra == 'serve'",
    "rings>=2; sys_platform == 'no-such-system' and extra == 'serve'",
    "pytest>=1; extra == 'dev'",
]


def names(extra: str = "") -> list[str]:
    return [package.name for package in packages(REQUIREMENTS, extra)]


def test_packages_are_those_of_this_system_and_of_one_extra() -> None:
    assert names() == ["numpy", "rich"]
    assert names("serve") == ["fastapi"]
    assert names("dev") == ["pytest"]
    assert names("other") == []


@pytest.mark.parametrize(
    ("requirement", "is_right", "shown"),
    [
        ("pytest>=1", True, f"pytest {installed_version('pytest')}"),
        ("pytest<1", False, f"pytest<1 ({installed_version('pytest')} is installed)"),
        ("no-such-package>=3", False, "no-such-package>=3"),
    ],
)
def test_a_package_is_right_in_a_version_that_was_asked_for(requirement: str, is_right: bool, shown: str) -> None:
    package = Package(Requirement(requirement))
    assert package.is_right is is_right
    assert str(package) == shown


def test_our_own_metadata_asks_for_torch() -> None:
    assert "torch" in [package.name for package in packages(own_requirements())]
