"""Where a run stands: what is stored with every checkpoint, so that a resumed run goes on as if it had not stopped."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from headway.data.loader import START, Position


class Best(NamedTuple):
    """The best validation so far."""

    step: int
    score: float
    """More is better, whatever it is."""


class Since(NamedTuple):
    """Sums since the last record of `metrics.jsonl`."""

    loss: float = 0.0
    plain: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


NOTHING_YET = Since()


@dataclass(frozen=True)
class Progress:
    """The state of a run between two updates, but for weights and optimizer."""

    step: int = 0
    position: Position = START
    best: Best | None = None
    waited: int = 0
    """Validations since the best one."""
    tokens: int = 0
    """Target tokens seen."""
    seconds: float = 0.0
    """Time spent training, over all sittings; validating and saving not counted."""
    since: Since = NOTHING_YET

    def after_update(
        self, step: int, position: Position, loss: float, plain: float, tokens: int, seconds: float
    ) -> "Progress":
        """One update on: the mean losses of its tokens, and how long it took."""
        return replace(
            self,
            step=step,
            position=position,
            tokens=self.tokens + tokens,
            seconds=self.seconds + seconds,
            since=Since(
                self.since.loss + loss * tokens,
                self.since.plain + plain * tokens,
                self.since.tokens + tokens,
                self.since.seconds + seconds,
            ),
        )

    def since_record(self) -> tuple[dict[str, float], "Progress"]:
        """The means since the last record, and the progress with counting begun anew."""
        since = self.since
        tokens = max(since.tokens, 1)
        record = {
            "loss": since.loss / tokens,
            "perplexity": math.exp(min(since.plain / tokens, 700.0)),
            "tokens_per_second": since.tokens / max(since.seconds, 1e-9),
        }
        return record, replace(self, since=NOTHING_YET)

    def as_json(self) -> dict[str, Any]:
        """For `state.json`."""
        return {
            "step": self.step,
            "position": self.position._asdict(),
            "best": self.best._asdict() if self.best else None,
            "waited": self.waited,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "since": self.since._asdict(),
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "Progress":
        """The inverse of `as_json`; what else the state has is left alone."""
        return cls(
            state["step"],
            Position(**state["position"]),
            Best(**state["best"]) if state["best"] else None,
            state["waited"],
            state["tokens"],
            state["seconds"],
            Since(**state["since"]),
        )
