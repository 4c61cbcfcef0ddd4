"""How far a converted model writes what the run's own model writes, on validation sentences."""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headway.config import SearchConfig
from headway.data.objectives import padded
from headway.errors import UserError
from headway.evaluate.scores import score_texts
from headway.export.engine import Ctranslate2Engine
from headway.search.batches import in_batches
from headway.search.beam import beam_search
from headway.search.forced import score_targets
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel
from headway.store.run import Run
from headway.text.specials import EOS, SPECIAL_TOKENS

SENTENCES = 200
"""How many are translated at most."""
TIE = 1e-3
"""Two tokens whose log-probabilities are as close as this: which one is taken is a matter of rounding."""


@dataclass(frozen=True)
class Sample:
    """A sentence to compare on."""

    source: list[int]
    """Without EOS."""
    text: str = ""
    reference: str = ""
    prefix: list[int] = field(default_factory=list)
    phrases: list[Any] = field(default_factory=list)
    target: list[int] | None = None


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


def compare(run: Run, model: StepModel, directory: Path) -> Agreement:
    """Translate with both engines: greedily, and with the run's own beam."""
    samples = read_samples(run) or make_samples(run)
    search = run.config.search.model_copy(update={"method": "beam", "n_best": 1})
    greedy = search.model_copy(update={"beam": 1})
    ours, theirs = torch_outputs(model, samples, greedy), engine_outputs(run, directory, samples, greedy)
    differing = [
        place
        for place, sample in enumerate(samples)
        if ours[place] != theirs[place] and not is_tie(model, sample, ours[place], theirs[place])
    ]
    beams = (torch_outputs(model, samples, search), engine_outputs(run, directory, samples, search))
    decode = run.vocabulary.target.decode
    texts = [[decode(tokens) for tokens in outputs] for outputs in (ours, theirs)]
    bleu_torch, bleu_ctranslate2 = (bleu(samples, each) for each in texts)
    return Agreement(
        sentences=len(samples),
        greedy_equal=1 - len(differing) / len(samples),
        beam=search.beam,
        penalty=search.penalty,
        alpha=search.alpha,
        beam_equal=sum(one == other for one, other in zip(*beams, strict=True)) / len(samples),
        bleu_torch=bleu_torch,
        bleu_ctranslate2=bleu_ctranslate2,
        first_difference=describe(samples[differing[0]], *(each[differing[0]] for each in texts))
        if differing
        else None,
    )


def read_samples(run: Run) -> list[Sample]:
    """The first validation sentences that are no longer than what the run was trained on."""
    path = run.data / "valid.jsonl"
    if not path.exists():
        return []
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:SENTENCES]]
        texts = [(record["source"], record["target"]) for record in records]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    encode = run.vocabulary.source.encode
    samples = [Sample(encode(source.strip()), source, target) for source, target in texts]
    return [sample for sample in samples if 0 < len(sample.source) <= run.config.data.max_length]


def make_samples(run: Run) -> list[Sample]:
    """Made-up sentences, for a run without validation sentences: any tokens can tell two models apart."""
    chance = random.Random(1)
    known = range(len(SPECIAL_TOKENS), len(run.vocabulary.source))
    sizes = range(1, min(20, run.config.data.max_length) + 1)
    sources = [chance.choices(known, k=chance.choice(sizes)) for _ in range(SENTENCES // 4)]
    return [Sample(source, run.vocabulary.source.decode(source)) for source in sources]


def torch_outputs(model: StepModel, samples: Sequence[Sample], config: SearchConfig) -> list[list[int]]:
    """The tokens of the best output of each sentence, by our own search."""

    def search(batch: list[Sample]) -> list[list[int]]:
        source = padded([np.asarray([*sample.source, EOS]) for sample in batch])
        rules = Rules.of(source, config)
        if config.beam == 1:
            return [written(each) for each in greedy_search(model, source, rules, LengthPenalty.of(config))]
        return [written(each[0]) for each in beam_search(model, source, rules, config)]

    batches = in_batches(
        samples, search, length=lambda each: len(each.source) + 1, tokens=config.batch_tokens, window=len(samples)
    )
    return list(batches)


def engine_outputs(run: Run, directory: Path, samples: Sequence[Sample], config: SearchConfig) -> list[list[int]]:
    """The same by the converted model."""
    engine = Ctranslate2Engine(directory, run.vocabulary, config, with_probabilities=False)
    return [written(each[0]) for each in engine.decode(samples)]


def written(output: Hypothesis) -> list[int]:
    """The tokens of an output, with EOS if it is finished."""
    return [*output.tokens, EOS] if output.finished else output.tokens


def is_tie(model: StepModel, sample: Sample, one: list[int], other: list[int]) -> bool:
    """Whether two outputs part where the model finds both tokens as probable."""
    source = padded([np.asarray([*sample.source, EOS])] * 2)
    values = score_targets(model, source, [[token for token in tokens if token != EOS] for tokens in (one, other)])
    part = next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return abs(values[0][part] - values[1][part]) < TIE


def bleu(samples: Sequence[Sample], texts: Sequence[str]) -> float | None:
    """BLEU of translations, if there is something to compare them with."""
    references = [sample.reference for sample in samples]
    if not any(references):
        return None
    return score_texts(texts, [references], metrics=("bleu",), samples=0)["bleu"].value


def describe(sample: Sample, ours: str, theirs: str) -> str:
    """A sentence and what both engines make of it."""
    return f"{sample.text!r}: torch writes {ours!r}, CTranslate2 {theirs!r}"
