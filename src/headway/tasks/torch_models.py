"""A run, or several as one -> our own engine, on a device."""

from collections.abc import Sequence

import torch

from headway.config import Config
from headway.errors import UserError
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly
from headway.models.quick import quickened
from headway.nn.products import fix_linears
from headway.search.ensemble import Ensemble
from headway.search.steps import StepModel
from headway.search.torch_engine import TorchEngine
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run
from headway.train.precision import choose_device


def open_torch(
    run: Run, checkpoint: Checkpoint, config: Config, ensemble: Sequence[Run] = ()
) -> tuple[TorchEngine, int]:
    """The engine, and how many threads it has; the probabilities of the runs in `ensemble` are averaged with its."""
    device = choose_device(config.machine.device)
    if config.machine.threads:
        torch.set_num_threads(config.machine.threads)
    models = [load_model(run, checkpoint), *(_load_member(other, run) for other in ensemble)]
    for model in models:
        model.to(device)
        if device.type == "cpu":
            fix_linears(model)
    quick = [quickened(model) if device.type == "cpu" else model for model in models]
    return TorchEngine(together(models), config.search, device, quick=together(quick)), torch.get_num_threads()


def together(models: Sequence[StepModel]) -> StepModel:
    """Several models as one."""
    return Ensemble(models) if len(models) > 1 else models[0]


def load_model(run: Run, checkpoint: Checkpoint | None = None) -> EncoderDecoder | DecoderOnly:
    """The model of a run that translates."""
    model = run.load_model(checkpoint)
    assert not isinstance(model, EncoderOnly), "its objective is never translation"
    return model


def _load_member(run: Run, first: Run) -> EncoderDecoder | DecoderOnly:
    """The model of a run that is to be searched together with that of the first."""
    if run.vocabulary.fingerprint != first.vocabulary.fingerprint:
        raise UserError(
            f"{run.path} has another vocabulary than {first.path}, so that they cannot be searched together; "
            "train both on the same corpus, with another train.seed each"
        )
    return load_model(run)
