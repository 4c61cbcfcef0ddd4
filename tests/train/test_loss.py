"""The loss against torch's, against its definition, and the fused against the plain one."""

import math

import pytest
import torch
import torch.nn.functional as F

from headway.text.specials import PAD
from headway.train import loss as loss_module
from headway.train.loss import cross_entropy, output_loss, smoothed_distribution

VOCABULARY = 11


def inputs(dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    states = torch.randn(3, 7, 6, dtype=dtype, requires_grad=True)
    weight = torch.randn(VOCABULARY, 6, dtype=dtype, requires_grad=True)
    targets = torch.randint(1, VOCABULARY, (3, 7))
    targets[1, 4:] = PAD
    return states, weight, targets


@pytest.mark.parametrize("kind", ["paper", "torch"])
def test_the_smoothed_distribution_is_one(kind) -> None:
    right, rest = smoothed_distribution(VOCABULARY, 0.1, kind)
    assert right + (VOCABULARY - 1) * rest == pytest.approx(1)
    assert right == pytest.approx({"paper": 0.9, "torch": 0.9 + 0.1 / VOCABULARY}[kind])


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_torch_kind_equals_torch(epsilon: float) -> None:
    states, weight, targets = inputs()
    logits = states @ weight.T
    expected = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=epsilon, reduction="sum"
    )
    loss = cross_entropy(logits, targets, epsilon, "torch")
    torch.testing.assert_close(loss.smoothed, expected)
    assert loss.tokens == 18


def test_the_paper_kind_equals_its_definition() -> None:
    states, weight, targets = inputs()
    log_probabilities = (states @ weight.T).log_softmax(-1).tolist()
    expected = 0.0
    for row, answers in zip(log_probabilities, targets.tolist(), strict=True):
        for scores, answer in zip(row, answers, strict=True):
            if answer != PAD:
                expected -= sum((0.9 if v == answer else 0.1 / (VOCABULARY - 1)) * s for v, s in enumerate(scores))
    assert cross_entropy(states @ weight.T, targets, 0.1).smoothed.item() == pytest.approx(expected)


def test_perplexity_is_made_from_the_unsmoothed_loss() -> None:
    logits = torch.zeros(2, 3, VOCABULARY)
    loss = cross_entropy(logits, torch.ones(2, 3, dtype=torch.long), 0.3)
    assert math.exp(loss.plain / loss.tokens) == pytest.approx(VOCABULARY)
    states, weight, targets = inputs()
    torch.testing.assert_close(
        cross_entropy(states @ weight.T, targets, 0.3).plain, cross_entropy(states @ weight.T, targets).smoothed
    )


@pytest.mark.parametrize("chunk", [1, 4, 512])
@pytest.mark.parametrize("kind", ["paper", "torch"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_fused_loss_equals_the_plain_one(epsilon: float, kind, chunk: int, library: str, monkeypatch) -> None:
    monkeypatch.setattr(loss_module, "CHUNK", chunk)
    states, weight, targets = inputs(torch.float32 if library == "oneDNN" else torch.float64)
    fused = output_loss(states, weight, targets, epsilon, kind)
    plain = cross_entropy(states @ weight.T, targets, epsilon, kind)
    torch.testing.assert_close(fused, plain)
    ours = torch.autograd.grad(fused.smoothed / fused.tokens, [states, weight])
    theirs = torch.autograd.grad(plain.smoothed / plain.tokens, [states, weight])
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_the_fused_loss_withstands_large_logits() -> None:
    states, weight = torch.full((1, 2), 100.0), torch.tensor([[0.0, 0.0], [100.0, 100.0], [99.0, 100.0]])
    loss = output_loss(states, weight, torch.tensor([1]))
    assert loss.smoothed.item() == pytest.approx(0.0)


def test_frozen_weights_get_no_gradient() -> None:
    states, weight, targets = inputs()
    loss = output_loss(states, weight.detach(), targets, 0.1)
    loss.smoothed.backward()
    assert states.grad is not None
    with torch.no_grad():
        assert output_loss(states, weight, targets, 0.1).smoothed.item() == pytest.approx(loss.smoothed.item())
