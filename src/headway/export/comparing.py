"""A converted model against the run's own model: both translate validation sentences."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from headway.config import SearchConfig
from headway.errors import UserError
from headway.evaluate.scores import score_texts
from headway.export.agreement import Agreement
from headway.export.engine import Ctranslate2Engine
from headway.search.batches import in_batches
from headway.search.engine import Engine, Part
from headway.search.results import Hypothesis
from headway.search.steps import StepModel
from headway.search.torch_engine import TorchEngine
from headway.store.run import Run
from headway.text.specials import EOS, SPECIAL_TOKENS

SENTENCES = 200
"""How many are translated at most."""
TIE = 1e-3
"""Two tokens whose log-probabilities are as close as this: which one is taken is a matter of rounding."""


class Sample(NamedTuple):
    """A sentence to compare on."""

    part: Part
    reference: str = ""


def compare(run: Run, model: StepModel, directory: Path) -> Agreement:
    """Translate with both engines: greedily, and with the run's own beam."""
    samples = read_samples(run) or make_samples(run)
    search = run.config.search.model_copy(update={"method": "beam", "n_best": 1})
    greedy = search.model_copy(update={"beam": 1})
    by_torch = TorchEngine(model, greedy)
    ours, theirs = outputs(by_torch, samples), outputs(_engine(run, directory, greedy), samples)
    differing = [
        place
        for place, sample in enumerate(samples)
        if ours[place] != theirs[place] and not is_tie(by_torch, sample.part, ours[place], theirs[place])
    ]
    beams = [outputs(each, samples) for each in (TorchEngine(model, search), _engine(run, directory, search))]
    decode = run.vocabulary.target.decode
    texts = [[decode(tokens) for tokens in each] for each in (ours, theirs)]
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
    samples = [
        Sample(Part(number, 0, source, encode(source.strip())), target)
        for number, (source, target) in enumerate(texts, start=1)
    ]
    return [sample for sample in samples if 0 < len(sample.part.source) <= run.config.data.max_length]


def make_samples(run: Run) -> list[Sample]:
    """Made-up sentences, for a run without validation sentences: any tokens can tell two models apart."""
    chance = random.Random(1)
    known = range(len(SPECIAL_TOKENS), len(run.vocabulary.source))
    sizes = range(1, min(20, run.config.data.max_length) + 1)
    sources = [chance.choices(known, k=chance.choice(sizes)) for _ in range(SENTENCES // 4)]
    decode = run.vocabulary.source.decode
    return [Sample(Part(number, 0, decode(source), source)) for number, source in enumerate(sources, start=1)]


def outputs(engine: Engine, samples: Sequence[Sample]) -> list[list[int]]:
    """The tokens of the best output of each sentence."""
    found = in_batches(
        [sample.part for sample in samples],
        engine.decode,
        length=lambda part: len(part.source) + 1,
        tokens=engine.batch_tokens,
        window=len(samples),
        workers=engine.workers,
    )
    return [written(best) for best, *_ in found]


def _engine(run: Run, directory: Path, config: SearchConfig) -> Ctranslate2Engine:
    return Ctranslate2Engine(directory, run.vocabulary, config, with_probabilities=False)


def written(output: Hypothesis) -> list[int]:
    """The tokens of an output, with EOS if it is finished."""
    return [*output.tokens, EOS] if output.finished else output.tokens


def is_tie(engine: Engine, part: Part, one: list[int], other: list[int]) -> bool:
    """Whether two outputs part where the model finds both tokens as probable."""
    given = [replace(part, target=[token for token in tokens if token != EOS]) for tokens in (one, other)]
    values = [scored.token_log_probabilities for (scored,) in engine.score(given)]
    fork = next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return abs(values[0][fork] - values[1][fork]) < TIE


def bleu(samples: Sequence[Sample], texts: Sequence[str]) -> float | None:
    """BLEU of translations, if there is something to compare them with."""
    references = [sample.reference for sample in samples]
    if not any(references):
        return None
    return score_texts(texts, [references], metrics=("bleu",), samples=0)["bleu"].value


def describe(sample: Sample, ours: str, theirs: str) -> str:
    """A sentence and what both engines make of it."""
    return f"{sample.part.text!r}: torch writes {ours!r}, CTranslate2 {theirs!r}"
