"""R-Drop against its formula, written with loops and NumPy."""

import numpy as np
import pytest
import torch

from headway.text.specials import PAD
from headway.train.loss import cross_entropy
from headway.train.r_drop import CHUNK, r_drop_loss, r_drop_output_loss


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.randn(4, 3, 7, dtype=torch.float64, requires_grad=True)
    return logits, torch.tensor([[3, 1, 6], [2, 5, PAD]])


def softmax(row: np.ndarray) -> np.ndarray:
    return np.exp(row) / np.exp(row).sum()


def test_it_equals_the_formula() -> None:
    logits, targets = inputs()
    rows = logits.detach().numpy()
    expected = 0.0
    for row, column in np.argwhere(targets.numpy() != PAD):
        p, q = softmax(rows[row, column]), softmax(rows[row + 2, column])
        answer = targets[row, column]
        expected += -(np.log(p[answer]) + np.log(q[answer])) / 2
        both_ways = (p * np.log(p / q)).sum() + (q * np.log(q / p)).sum()
        expected += 5.0 / 2 * both_ways / 2
    loss = r_drop_loss(logits, targets, 5.0, 0.0, "paper")
    assert loss.smoothed.item() == pytest.approx(expected)
    assert loss.tokens == 5


@pytest.mark.parametrize("kind", ["paper", "torch"])
def test_without_weight_it_is_the_mean_of_two_cross_entropies(kind) -> None:
    logits, targets = inputs()
    loss = r_drop_loss(logits, targets, 0.0, 0.1, kind)
    ones = [cross_entropy(half, targets, 0.1, kind) for half in logits.chunk(2)]
    torch.testing.assert_close(loss.smoothed, (ones[0].smoothed + ones[1].smoothed) / 2)
    torch.testing.assert_close(loss.plain, (ones[0].plain + ones[1].plain) / 2)


def test_equal_passes_do_not_diverge() -> None:
    logits, targets = inputs()
    twice = torch.cat([logits[:2], logits[:2]])
    torch.testing.assert_close(
        r_drop_loss(twice, targets, 9.0, 0.1, "paper").smoothed, cross_entropy(logits[:2], targets, 0.1).smoothed
    )


@pytest.mark.parametrize("kind", ["paper", "torch"])
@pytest.mark.parametrize("rows", [2, CHUNK])  # of 3 tokens each: less than one chunk, and several with a rest
def test_the_fused_loss_is_that_of_the_logits(kind, rows, library: str) -> None:
    dtype = torch.float32 if library == "oneDNN" else torch.float64
    states = torch.randn(2 * rows, 3, 5, dtype=dtype, requires_grad=True)
    output = torch.randn(7, 5, dtype=dtype, requires_grad=True)
    targets = torch.randint(1, 7, (rows, 3))
    targets[-1, -1] = PAD
    plain = r_drop_loss(states @ output.T, targets, 5.0, 0.1, kind)
    fused = r_drop_output_loss(states, output, targets, 5.0, 0.1, kind)
    torch.testing.assert_close(fused, plain)
    gradients = [torch.autograd.grad(3 * loss.smoothed, (states, output)) for loss in (plain, fused)]
    torch.testing.assert_close(*gradients)
