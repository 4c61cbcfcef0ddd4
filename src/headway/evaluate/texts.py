"""The check that hypotheses and references belong together."""

from collections.abc import Sequence

from headway.errors import UserError

References = Sequence[str] | Sequence[Sequence[str]]
"""A line for each hypothesis, or several such lists."""


def align(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """The references as lists, each with a line for every hypothesis."""
    if not hypotheses:
        raise UserError("there are no hypotheses to score; expected at least one line")
    lists = _as_lists(references)
    if not lists:
        raise UserError("there are no references to score against; expected a line for each hypothesis")
    for number, lines in enumerate(lists, start=1):
        require_same_count("the hypotheses", hypotheses, f"reference {number}" if lists[1:] else "the reference", lines)
    return lists


def require_same_count(name: str, lines: Sequence[str], other_name: str, others: Sequence[str]) -> None:
    """Refuse lists of different lengths."""
    if len(lines) != len(others):
        raise UserError(
            f"line counts differ: {len(lines):,} in {name}, {len(others):,} in {other_name}; "
            "they must align line by line"
        )


def _as_lists(references: References) -> list[list[str]]:
    if references and isinstance(references[0], str):
        return [[str(line) for line in references]]
    return [list(lines) for lines in references]
