"""How far a converted model writes what the run's own model writes, as it is kept beside the conversion."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Agreement:
    """What a comparison found; shares are of all sentences, from 0 to 1."""

    sentences: int
    greedy_equal: float
    """Share of the same output of greedy search, ties of two tokens counted as the same."""
    beam: int
    penalty: str
    alpha: float
    beam_equal: float
    """Share of the same best output of beam search with these settings of the run."""
    bleu_torch: float | None
    """Of greedy search; None if there were no validation sentences, and made-up ones were used."""
    bleu_ctranslate2: float | None
    first_difference: str | None
    """The first sentence of which greedy search makes something else, and what."""

    def as_json(self) -> dict[str, Any]:
        """All of it, for `json.dumps`."""
        return asdict(self)
