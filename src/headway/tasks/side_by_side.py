"""Two runs on the same sentences: how well each translates, how large it is, and how fast, measured in turns."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from headway.evaluate.scores import score_texts
from headway.models import describe
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run
from headway.tasks.loading import load
from headway.text.corpus import Pair

TURN = 50
"""Sentences that one translates before it is the other's turn, so that a busy machine is busy for both."""


@dataclass(frozen=True)
class Side:
    """What one run makes of the sentences."""

    run: str
    checkpoint: str
    parameters: int
    beam: int
    """1 is greedy search."""
    bleu: float
    sentences_per_second: float

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        return asdict(self)


@dataclass
class Entrant:
    """A run that takes part with one of its checkpoints, alone or with others, and what it has done so far."""

    run: Run
    checkpoint: Checkpoint
    settings: Sequence[str]
    ensemble: Sequence[Run] = ()
    texts: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        name = self.checkpoint.path.name
        # Beside torch, which has just trained, CTranslate2 would not be as fast as it is alone.
        others = [run.path for run in self.ensemble]
        self._translator = load(self.run.path, checkpoint=name, settings=self.settings, ensemble=others, engine="torch")

    def warm_up(self, pairs: Sequence[Pair]) -> None:
        """Translate, and count nothing: the first time, threads and memory are made ready."""
        self._translator.translate([pair.source for pair in pairs])

    def take_turn(self, pairs: Sequence[Pair]) -> None:
        """Translate some sentences against the clock."""
        begun = time.perf_counter()
        translations = self._translator.translate([pair.source for pair in pairs])
        self.seconds += time.perf_counter() - begun
        self.texts += [translation.text for translation in translations]

    def judged(self, pairs: Sequence[Pair]) -> Side:
        """What it has made of all sentences."""
        config = self.run.config
        references = [[pair.target for pair in pairs]]
        language = config.data.target_language
        bleu = score_texts(self.texts, references, language=language, metrics=("bleu",), samples=0)["bleu"]
        runs = self.run, *self.ensemble
        parameters = sum(describe(run.config).parameters["total"] for run in runs)
        name = " + ".join(str(run.path) for run in runs)
        rate = len(pairs) / self.seconds
        beam = self._translator.config.beam
        return Side(name, self.checkpoint.path.name, parameters, beam, bleu.value, rate)


def side_by_side(first: Entrant, second: Entrant, pairs: Sequence[Pair]) -> tuple[Side, Side]:
    """Let both translate the same sentences, in turns, and each begin as often as the other."""
    turns = [pairs[start : start + TURN] for start in range(0, len(pairs), TURN)]
    for entrant in (first, second):
        entrant.warm_up(turns[0])
    for number, turn in enumerate(turns):
        for entrant in (first, second) if number % 2 == 0 else (second, first):
            entrant.take_turn(turn)
    return first.judged(pairs), second.judged(pairs)
