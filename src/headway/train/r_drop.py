"""R-Drop (Liang et al., 2021): two passes with different dropout should say the same.

Half of the published loss, so that it is a mean over the two passes and compares with other runs: the mean of their
cross entropies, and `weight` / 2 times the mean of the two divergences between them.
"""

from typing import Any

import torch
from torch import Tensor

from headway.nn.linear import add_product, multiply
from headway.text.specials import PAD
from headway.train.loss import Loss, Smoothing, cross_entropy, smoothed_distribution

CHUNK = 128
"""Tokens whose logits the fused loss holds at once, two rows each: few enough to stay in a processor's cache."""


def r_drop_loss(logits: Tensor, targets: Tensor, weight: float, epsilon: float, kind: Smoothing) -> Loss:
    """Logits (2B, T, V) of the same rows twice, targets (B, T). The plain twin of `r_drop_output_loss`."""
    one, other = logits.chunk(2)  # (B, T, V) each
    losses = [cross_entropy(x, targets, epsilon, kind) for x in (one, other)]
    real = targets != PAD
    p, q = (x[real].log_softmax(-1) for x in (one, other))  # (n, V) each
    # KL(p|q) + KL(q|p) = sum (p - q) (log p - log q)
    divergence = ((p.exp() - q.exp()) * (p - q)).sum()
    smoothed = (losses[0].smoothed + losses[1].smoothed) / 2 + weight * divergence / 4
    return Loss(smoothed, (losses[0].plain + losses[1].plain) / 2, losses[0].tokens)


def r_drop_output_loss(
    states: Tensor, output: Tensor, targets: Tensor, weight: float, epsilon: float, kind: Smoothing
) -> Loss:
    """The output matrix (V, D) and the loss in one, for states (2B, T, D) of the same rows twice.

    As in `loss.output_loss`, logits are made for a few rows at a time, and the gradients on the way.
    """
    real = targets != PAD
    chosen = targets[real]  # (n,)
    right, rest = smoothed_distribution(output.size(0), epsilon, kind)
    pairs = torch.stack([half[real] for half in states.chunk(2)], dim=1)  # (n, 2, D)
    smoothed, plain = _RDropOutputLoss.apply(pairs, output, chosen, weight, right, rest)
    return Loss(smoothed, plain, chosen.numel())


class _RDropOutputLoss(torch.autograd.Function):
    """Sums over pairs of rows (n, 2, D); `backward` only scales what `forward` has computed."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, output: Tensor, targets: Tensor, weight: float, right: float, rest: float
    ) -> tuple[Tensor, Tensor]:
        states_gradient, output_gradient = torch.empty_like(states), torch.zeros_like(output.T)  # (n, 2, D), (D, V)
        smoothed, plain = states.new_zeros(()), states.new_zeros(())
        size = (min(CHUNK, len(targets)), 2, len(output))
        logs, chances, gaps = states.new_empty(size), states.new_empty(size), states.new_empty(size[0], size[2])
        pull = weight / 4
        for start in range(0, len(targets), CHUNK):
            rows = slice(start, start + CHUNK)
            answer = targets[rows, None, None].expand(-1, 2, 1)  # (c, 2, 1)
            flat = states[rows].flatten(0, 1)  # (2c, D)
            log = logs[: len(answer)]  # (c, 2, V): logits, then logarithms of chances, then gradients
            log = multiply(flat, output, out=log.view(len(flat), -1)).view_as(log)
            log.sub_(log.amax(-1, keepdim=True))
            p = torch.exp(log, out=chances[: len(answer)])  # (c, 2, V)
            total = p.sum(-1, keepdim=True)  # (c, 2, 1)
            p.mul_(total.reciprocal())
            log.sub_(total.log_())
            of_right = log.gather(2, answer)
            plain -= of_right.sum() / 2
            smoothed -= ((right - rest) * of_right.sum() + rest * log.sum()) / 2
            gap = torch.sub(log[:, 0], log[:, 1], out=gaps[: len(answer)])  # (c, V)
            # With p the chances of one pass, q those of the other and KL their divergence, d smoothed / d logits =
            # (p - the smoothed answer) / 2 + pull (p (log p - log q - KL) + p - q)
            for one, other, sign in ((0, 1, 1), (1, 0, -1)):
                gradient = torch.mul(p[:, one], gap, out=log[:, one])  # (c, V)
                divergence = sign * gradient.sum(-1, keepdim=True)  # (c, 1)
                smoothed += pull * divergence.sum()
                gradient.mul_(sign * pull).addcmul_(p[:, one], 0.5 + pull - pull * divergence)
                gradient.sub_(p[:, other], alpha=pull).sub_(rest / 2)
            log.scatter_add_(2, answer, torch.full_like(of_right, (rest - right) / 2))
            gradients = log.view(len(flat), -1)  # (2c, V)
            states_gradient[rows] = multiply(gradients, output.T).view(-1, 2, states.size(-1))
            add_product(output_gradient, flat.T, gradients.T)
        ctx.save_for_backward(states_gradient, output_gradient)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, scale: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        states, output = ctx.saved_tensors
        return states * scale, (output * scale).T, None, None, None, None
