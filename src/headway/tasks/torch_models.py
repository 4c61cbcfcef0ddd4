"""A run, or several as one -> our own engine, on a device."""

from collections.abc import Sequence

import torch

from headway.config import Config
from headway.errors import UserError
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly
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
    model = load_model(run, checkpoint).to(device)
    others = [_load_member(other, run).to(device) for other in ensemble]
    together: StepModel = Ensemble([model, *others]) if others else model
    return TorchEngine(together, config.search, device), torch.get_num_threads()


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
