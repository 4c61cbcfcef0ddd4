"""A model and its loss as one module: a batch in, sums out. It is what is wrapped for many ranks or compiled."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from headway.config import MachineConfig, TrainConfig
from headway.data.objectives import Seq2SeqBatch
from headway.models import EncoderDecoder, EncoderOnly, Model
from headway.train.batches import Batch
from headway.train.loss import Loss, cross_entropy, output_loss
from headway.train.r_drop import r_drop_loss, r_drop_output_loss


class Objective(nn.Module):
    """The loss of a model on a batch, as the settings have it; without smoothing and R-Drop when not training."""

    def __init__(self, model: Model, config: TrainConfig) -> None:
        super().__init__()
        self.model = model
        self.config = config

    def forward(self, batch: Batch) -> Loss:
        smoothing = (self.config.label_smoothing if self.training else 0.0, self.config.smoothing)
        r_drop = self.config.r_drop if self.training else 0.0
        states = self._states(type(batch)(*(torch.cat([x, x]) for x in batch)) if r_drop else batch)
        output, answer = self._head(), batch.answer
        with torch.autocast(states.device.type, enabled=False):
            states = states.float()
            if output.bias is not None:  # the fused losses know none
                logits = output(states)
                return (
                    r_drop_loss(logits, answer, r_drop, *smoothing)
                    if r_drop
                    else cross_entropy(logits, answer, *smoothing)
                )
            if r_drop:
                return r_drop_output_loss(states, output.weight, answer, r_drop, *smoothing)
            return output_loss(states, output.weight, answer, *smoothing)

    def _states(self, batch: Batch) -> Tensor:
        if isinstance(batch, Seq2SeqBatch):
            assert isinstance(self.model, EncoderDecoder)
            return self.model.states(batch.source, batch.target)[0]
        assert not isinstance(self.model, EncoderDecoder)
        return self.model.states(batch.tokens)[0]

    def _head(self) -> nn.Linear:
        return self.model.head.output if isinstance(self.model, EncoderOnly) else self.model.output


class Compiled(nn.Module):
    """An objective compiled by torch; when that fails, the objective itself, and a word about it."""

    def __init__(self, objective: Objective, on_warning: Callable[[str], None]) -> None:
        super().__init__()
        self.objective = objective
        self._on_warning = on_warning
        self._compiled: Callable[[Batch], Loss] | None = torch.compile(objective.forward, dynamic=True)

    def forward(self, batch: Batch) -> Loss:
        if self._compiled is not None:
            try:
                return self._compiled(batch)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                self._compiled = None
                reason = str(error).strip().splitlines()
                self._on_warning(
                    f"torch.compile failed ({type(error).__name__}: {reason[0] if reason else ''}); "
                    "training goes on without it"
                )
        return self.objective(batch)


def with_machine_settings(objective: Objective, machine: MachineConfig, on_warning: Callable[[str], None]) -> nn.Module:
    """The objective with what the machine's settings add to it from outside."""
    if machine.recompute:
        recompute_layers(objective.model)
    return Compiled(objective, on_warning) if machine.compile else objective


def recompute_layers(model: Model) -> None:
    """Keep only the inputs of each layer for the backward pass, which computes the rest again."""
    stacks = (model.encoder, model.decoder) if isinstance(model, EncoderDecoder) else (model.stack,)
    for stack in stacks:
        for layer in stack.layers:
            layer.forward = partial(_recomputed, layer.forward)


def _recomputed(forward: Callable[..., object], *inputs: object, **more: Any) -> object:
    if not torch.is_grad_enabled():
        return forward(*inputs, **more)
    return checkpoint(forward, *inputs, use_reentrant=False, **more)
