"""What `headway check` looks for, how much of it is too much, and the report that says so."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["fine", "look", "wrong"]

EXAMPLES = 3
"""Shown of a finding."""
EXAMPLE_CHARACTERS = 300
"""Kept of each of its texts."""

RULES: dict[str, tuple[float, float, str]] = {
    "empty": (0.0, 0.01, "training leaves them out; if there are many, see whether the sides are shifted there"),
    "too_long": (0.0, 0.05, "training leaves them out; split them, or raise data.max_length"),
    "over_max_ratio": (0.0, 0.05, "training leaves them out; see whether data.max_ratio is too strict"),
    "ratio_outliers": (0.001, 0.05, "read the examples; if they are no translations, set data.max_ratio"),
    "duplicates": (0.01, 0.3, "training sees them that much more often; remove them unless that is wanted"),
    "several_targets": (0.05, 2.0, "right for different ways to say it; else decide for one, as models average them"),
    "identical": (0.005, 0.1, "they teach to copy; remove what should have been translated"),
    "wrong_script": (0.001, 0.05, "read the examples; remove lines in another language"),
    "odd_characters": (0.0, 0.01, "remove them; a U+FFFD was once a character, so convert the original text again"),
    "spelled_in_bytes": (0.001, 0.02, "clean rare characters, or raise tokenizer.size; models learn bytes badly"),
    "pairs_in_training": (0.0, 0.01, "remove them from training: scores on what was learned by heart mean nothing"),
    "sources_in_training": (0.01, 2.0, "scores may flatter; remove these sources from training for an honest test"),
    "targets_in_training": (0.05, 2.0, "usual for short sentences; else remove these targets from training"),
    "pairs_in_validation": (0.0, 0.01, "remove them from validation: what a model is chosen by cannot test it"),
    "sources_in_validation": (0.01, 2.0, "remove them from validation for an honest test"),
    "targets_in_validation": (0.05, 2.0, "usual for short sentences; else remove these targets from validation"),
}
"""A finding is to look at from one share of the pairs on (0: from the first), wrong from another; what to do then."""


@dataclass(frozen=True)
class Example:
    """Where a finding can be seen: the number of the pair, which is its line where a pair is a line."""

    line: int
    texts: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for: how often it was found and what to do about it."""

    name: str
    severity: Severity
    count: int
    share: float
    advice: str
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class SideHealth:
    """The numbers of one side. Where a number has no meaning for its script or tokenizer, it is None."""

    tokens: int
    characters: int
    words: int
    median_length: int
    p99_length: int
    longest: int
    tokens_per_word: float | None
    characters_per_token: float | None
    byte_token_share: float | None
    byte_character_share: float | None
    spelled: dict[str, int]
    script: str | None
    scripts: dict[str, int]
    odd_characters: dict[str, int]


@dataclass(frozen=True)
class Bin:
    """How many sentences have from `first` to `last` tokens; the last bin has no end."""

    first: int
    last: int | None
    source: int
    target: int


@dataclass(frozen=True)
class CorpusHealth:
    """All about one corpus. Its `unit` says what the numbers of examples count: lines, or else pairs."""

    name: str
    unit: str
    pairs: int
    skipped: int
    source: SideHealth
    target: SideHealth
    typical_ratio: float | None
    lengths: tuple[Bin, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class TokenizerFacts:
    """The tokenizer that tokens were counted with; `sizes` has one number, or one a side.

    `size_for_all` is the size that suits the whole corpus, if the settings leave it open.
    """

    kind: str
    normalisation: str
    sizes: tuple[int, ...]
    learned_from: int
    size_for_all: int | None


@dataclass(frozen=True)
class HealthReport:
    """What `headway check` shows."""

    tokenizer: TokenizerFacts
    train: CorpusHealth
    valid: CorpusHealth | None = None
    test: CorpusHealth | None = None

    @property
    def corpora(self) -> dict[str, CorpusHealth]:
        """Those that were given, by their role."""
        roles = {"train": self.train, "valid": self.valid, "test": self.test}
        return {role: corpus for role, corpus in roles.items() if corpus}

    @property
    def severities(self) -> Counter[str]:
        """How many findings have which severity."""
        return Counter(finding.severity for corpus in self.corpora.values() for finding in corpus.findings)

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        return {**asdict(self), "severities": dict(self.severities)}


def judge(name: str, count: int, of: int, examples: Iterable[Example] = ()) -> Finding:
    """How severe it is that `count` among `of` were found."""
    look, wrong, advice = RULES[name]
    share = count / of if of else 0.0
    severity: Severity = "fine" if not count or share < look else "look" if share < wrong else "wrong"
    return Finding(name, severity, count, share, advice, tuple(examples)[:EXAMPLES])


def example(line: int, texts: Iterable[str], note: str = "") -> Example:
    """An example with its texts cut to what may be kept of them."""
    return Example(line, tuple(text[:EXAMPLE_CHARACTERS] for text in texts), note)
