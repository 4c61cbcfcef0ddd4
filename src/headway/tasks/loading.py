"""A run directory -> a translator that is ready to be used; of several runs, one translator of all together."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from headway.config import Config
from headway.errors import UserError, did_you_mean
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly
from headway.search.ensemble import Ensemble
from headway.search.steps import StepModel
from headway.search.translator import Translator
from headway.settings import load_config
from headway.store.run import Run
from headway.train.precision import choose_device

ENGINES = ("torch",)
CHANGEABLE = ("search", "data", "machine")
"""Sections that can be set for a trained model; the others made its weights."""


def load(
    run: str | Path,
    *,
    checkpoint: str | None = None,
    settings: Sequence[str] = (),
    device: str = "auto",
    engine: str = "torch",
    ensemble: Iterable[str | Path] = (),
) -> Translator:
    """The translator of a run, its settings changed by assignments as in search.beam=8.

    It uses the checkpoint that the run has chosen, or the one of that name. The probabilities of the runs in `ensemble`
    are averaged with its own.
    """
    if engine not in ENGINES:
        raise UserError(f"unknown engine {engine}{did_you_mean(engine, ENGINES)}")
    opened = Run.open(run)
    config = changed_config(opened, settings)
    place = choose_device(device if device != "auto" else config.machine.device)
    if config.machine.threads:
        torch.set_num_threads(config.machine.threads)
    model = _load_model(opened, checkpoint).to(place)
    others = [_load_member(Run.open(other), opened).to(place) for other in ensemble]
    together: StepModel = Ensemble([model, *others]) if others else model
    return Translator(together, opened.vocabulary, config.search, max_length=config.data.max_length, device=place)


def changed_config(run: Run, settings: Sequence[str]) -> Config:
    """The settings of a run, changed; what it was trained on says nothing about the machine that it is used on."""
    sections = {name.partition("=")[0]: name.partition(".")[0].strip() for name in settings}
    fixed = [name for name, section in sections.items() if section in Config.model_fields and section not in CHANGEABLE]
    if fixed:
        raise UserError(
            f"{', '.join(fixed)} cannot be set for {run.path}, which is trained already; settings of "
            f"{', '.join(CHANGEABLE)} can"
        )
    config = load_config(file=run.path / "config.toml", assignments=settings)
    machine = load_config(assignments=[each for each in settings if each.partition(".")[0].strip() == "machine"])
    return config.model_copy(update={"machine": machine.machine})


def _load_model(run: Run, checkpoint: str | None = None) -> EncoderDecoder | DecoderOnly:
    """The model of a run, if it is one that translates."""
    if run.config.objective != "translation":
        raise UserError(
            f"{run.path} was trained for {run.config.objective}, not for translation; give a run that translates"
        )
    model = run.load_model(run.checkpoints.find(checkpoint) if checkpoint else None)
    assert not isinstance(model, EncoderOnly), "its objective is never translation"
    return model


def _load_member(run: Run, first: Run) -> EncoderDecoder | DecoderOnly:
    """The model of a run that is to be searched together with that of the first."""
    if run.vocabulary.fingerprint != first.vocabulary.fingerprint:
        raise UserError(
            f"{run.path} has another vocabulary than {first.path}, so that they cannot be searched together; "
            "train both on the same corpus, with another train.seed each"
        )
    return _load_model(run)
