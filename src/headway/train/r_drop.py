"""R-Drop (Liang et al., 2021): two passes with different dropout should say the same.

Half of the published loss, so that it is a mean over the two passes and compares with other runs: the mean of their
cross entropies, and `weight` / 2 times the mean of the two divergences between them.
"""

from torch import Tensor

from headway.text.specials import PAD
from headway.train.loss import Loss, Smoothing, cross_entropy


def r_drop_loss(logits: Tensor, targets: Tensor, weight: float, epsilon: float, kind: Smoothing) -> Loss:
    """Logits (2B, T, V) of the same rows twice, targets (B, T)."""
    one, other = logits.chunk(2)  # (B, T, V) each
    losses = [cross_entropy(x, targets, epsilon, kind) for x in (one, other)]
    real = targets != PAD
    p, q = (x[real].log_softmax(-1) for x in (one, other))  # (n, V) each
    # KL(p|q) + KL(q|p) = sum (p - q) (log p - log q)
    divergence = ((p.exp() - q.exp()) * (p - q)).sum()
    smoothed = (losses[0].smoothed + losses[1].smoothed) / 2 + weight * divergence / 4
    return Loss(smoothed, (losses[0].plain + losses[1].plain) / 2, losses[0].tokens)
