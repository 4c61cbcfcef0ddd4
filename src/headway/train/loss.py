"""Label-smoothed cross entropy (section 5.4), as sums and counts that are divided once, by the caller.

Two conventions exist for where the smoothed probability eps goes, and they give different numbers:

- `paper`: eps / (V - 1) on each token but the right one, as in tensor2tensor and fairseq;
- `torch`: eps / V on every token, the right one included, as in `torch.nn.CrossEntropyLoss`.

Both put `rest` on every token and `right - rest` more on the right one. Perplexity is exp of the *unsmoothed*
loss, which is why that is returned too.
"""

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from headway.nn.linear import add_product, multiply
from headway.text.specials import PAD

Smoothing = Literal["paper", "torch"]

CHUNK = 512
"""Rows of logits that the fused loss holds at once; from 256 to 2048 the speed on a CPU is much the same."""


class Loss(NamedTuple):
    """Sums over the real tokens of a batch."""

    smoothed: Tensor
    """Cross entropy with the smoothed distribution: what is trained."""
    plain: Tensor
    """Negative log-probability of the right tokens: what perplexity is made from."""
    tokens: int
    """How many tokens were summed over."""


def smoothed_distribution(vocabulary: int, epsilon: float, kind: Smoothing) -> tuple[float, float]:
    """The probability of the right token and of each other one."""
    match kind:
        case "paper":
            return 1 - epsilon, epsilon / (vocabulary - 1)
        case "torch":
            return 1 - epsilon + epsilon / vocabulary, epsilon / vocabulary


def cross_entropy(logits: Tensor, targets: Tensor, epsilon: float = 0.0, kind: Smoothing = "paper") -> Loss:
    """The loss of logits (..., V) for targets (...), padding not counted. The plain twin of `output_loss`."""
    right, rest = smoothed_distribution(logits.size(-1), epsilon, kind)
    real = targets != PAD
    log_probabilities = logits[real].log_softmax(dim=-1)  # (n, V)
    of_right = log_probabilities.gather(1, targets[real][:, None])[:, 0]  # (n,)
    smoothed = -(right - rest) * of_right - rest * log_probabilities.sum(-1)
    return Loss(smoothed.sum(), -of_right.detach().sum(), of_right.numel())


def output_loss(
    states: Tensor, weight: Tensor, targets: Tensor, epsilon: float = 0.0, kind: Smoothing = "paper"
) -> Loss:
    """The output matrix and the loss in one: states (..., D), weight (V, D), targets (...).

    Logits are made for a few rows at a time and never kept: the gradients are computed on the way.
    """
    real = targets != PAD
    chosen = targets[real]  # (n,)
    right, rest = smoothed_distribution(weight.size(0), epsilon, kind)
    smoothed, plain = _OutputLoss.apply(states[real], weight, chosen, right, rest)
    return Loss(smoothed, plain, chosen.numel())


class _OutputLoss(torch.autograd.Function):
    """Sums over rows of states (n, D); `backward` only scales what `forward` has computed."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        targets: Tensor,
        right: float,
        rest: float,
    ) -> tuple[Tensor, Tensor]:
        needs_states, needs_weight = ctx.needs_input_grad[:2]
        states_gradient = torch.empty_like(states) if needs_states else None
        weight_gradient = torch.zeros_like(weight.T) if needs_weight else None  # (D, V), which is faster to add to
        smoothed, plain = states.new_zeros(()), states.new_zeros(())
        buffer = states.new_empty(min(CHUNK, len(states)), len(weight))
        for start in range(0, len(states), CHUNK):
            rows = slice(start, start + CHUNK)
            answer = targets[rows, None]  # (c, 1)
            logits = multiply(states[rows], weight, out=buffer[: len(answer)])  # (c, V)
            of_right = logits.gather(1, answer)  # (c, 1)
            of_all = logits.sum()
            largest = logits.amax(dim=1, keepdim=True)  # (c, 1)
            exponentials = logits.sub_(largest).exp_()  # (c, V), in place, as all that follows
            total = exponentials.sum(dim=1, keepdim=True)  # (c, 1)
            log_total = total.log() + largest
            plain += (log_total - of_right).sum()
            smoothed += (log_total - (right - rest) * of_right).sum() - rest * of_all
            if needs_states or needs_weight:
                # d smoothed / d logits = softmax - the smoothed distribution
                gradient = exponentials.mul_(total.reciprocal()).sub_(rest)
                gradient.scatter_add_(1, answer, torch.full_like(of_right, rest - right))
                if states_gradient is not None:
                    states_gradient[rows] = multiply(gradient, weight.T)
                if weight_gradient is not None:
                    add_product(weight_gradient, states[rows].T, gradient.T)
        ctx.save_for_backward(states_gradient, weight_gradient)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, scale: Tensor, _: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        gradients = ctx.saved_tensors
        states, weight = (None if g is None else g * scale for g in gradients)
        return states, None if weight is None else weight.T, None, None, None
