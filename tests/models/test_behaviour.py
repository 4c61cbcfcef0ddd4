"""What holds for every model: padding, causality, attention weights, decoding step by step."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from small import random_ids, small_model, states_of

from headway.errors import UserError
from headway.models import DecodingState
from headway.text.specials import BOS

FAMILIES = ["encoder-decoder", "encoder-only", "decoder-only"]
PATTERNS = ["full", "window", "dilated", "strided", "top-k"]
SCORES = ["scaled-dot", "dot", "general", "additive", "gaussian"]


@settings(max_examples=25)
@given(
    st.sampled_from(FAMILIES),
    st.sampled_from(PATTERNS),
    st.sampled_from(["layer", "batch"]),
    st.integers(1, 40),
    st.integers(0, 40),
    st.integers(0, 40),
)
def test_more_padding_changes_nothing(
    family: str, pattern: str, norm: str, length: int, before: int, after: int
) -> None:
    model = small_model(family=family, pattern=pattern, norm=norm).train(norm == "layer" or length > 1)
    source, target = random_ids(2, length), random_ids(2, length)
    alone = states_of(model, source, target)
    padded = states_of(model, F.pad(source, (0, before)), F.pad(target, (0, after)))
    torch.testing.assert_close(padded[:, :length], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_sentence_gets_the_same_states_alone_and_in_a_batch(family: str, pattern: str) -> None:
    model = small_model(family=family, pattern=pattern).eval()
    batch = random_ids(4, 9)
    batch[2, 5:] = 0
    together = states_of(model, batch)
    alone = states_of(model, batch[2:3, :5])
    torch.testing.assert_close(together[2:3, :5], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("place", ["post", "pre"])
def test_the_future_has_no_gradient_on_the_past(family: str, pattern: str, place: str) -> None:
    model = small_model(family=family, pattern=pattern, norm_place=place, share_embeddings="none")
    entry = model.target_input if family == "encoder-decoder" else model.input
    embedded = []
    entry.register_forward_hook(lambda _module, _inputs, output: embedded.append(output))
    ids = random_ids(1, 9)
    states = states_of(model, ids)
    (gradient,) = torch.autograd.grad(states[0, 4, 0], embedded[0])
    assert gradient[:, 4].any()
    assert not gradient[:, 5:].any()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("score", SCORES)
def test_weights_of_every_layer_and_head_are_returned_and_change_nothing(family: str, score: str) -> None:
    model = small_model(family=family, score=score, layers=3).eval()
    source, target = random_ids(2, 7), random_ids(2, 5)
    sides = [source, target] if family == "encoder-decoder" else [target]
    states, nothing = model.states(*sides)
    again, maps = model.states(*sides, with_weights=True)
    torch.testing.assert_close(again, states, atol=1e-5, rtol=1e-5)
    shapes = {
        "encoder": (2, 2, 7, 7) if family == "encoder-decoder" else (2, 2, 5, 5),
        "decoder": (2, 2, 5, 5),
        "cross": (2, 2, 5, 7),
    }
    expected = {"encoder-decoder": list(shapes), "encoder-only": ["encoder"], "decoder-only": ["decoder"]}[family]
    for kind, shape in shapes.items():
        assert not getattr(nothing, kind)
        weights = getattr(maps, kind)
        assert len(weights) == (3 if kind in expected else 0)
        for layer in weights:
            assert layer.shape == shape
            torch.testing.assert_close(layer.sum(-1), torch.ones(shape[:-1]))
    for layer in maps.decoder:
        assert not layer.triu(1).any(), "nobody looks ahead"


def step_through(model, tokens: torch.Tensor, state: DecodingState) -> torch.Tensor:
    outputs = []
    for position in range(tokens.size(1)):
        log_probabilities, state = model.step(tokens[:, position], state)
        outputs.append(log_probabilities)
    return torch.stack(outputs, dim=1)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
@torch.no_grad()
def test_decoding_with_caches_equals_decoding_without(family: str, score: str, pattern: str) -> None:
    model = small_model(family=family, score=score, pattern=pattern).eval()
    source, target = random_ids(3, 8), random_ids(3, 20)
    source[1, 5:] = 0
    if family == "encoder-decoder":
        expected, state = model(source, target), model.start(source)
    else:
        expected, state = model(target), model.start(target[:, :0])
    cached = step_through(model, target, state)
    torch.testing.assert_close(cached, expected.log_softmax(-1), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_prefix_may_be_read_at_once() -> None:
    model = small_model(family="decoder-only").eval()
    tokens = random_ids(2, 12)
    expected = model(tokens).log_softmax(-1)
    cached = step_through(model, tokens[:, 7:], model.start(tokens[:, :7]))
    torch.testing.assert_close(cached, expected[:, 7:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
@torch.no_grad()
def test_rows_of_a_state_can_be_chosen_repeated_and_dropped(family: str) -> None:
    model = small_model(family=family).eval()
    source, target = random_ids(3, 8), random_ids(3, 6)
    source[0, 3:] = 0
    rows = torch.tensor([2, 0, 0, 2])
    state = model.start(source if family == "encoder-decoder" else target[:, :0])
    for position in range(3):
        _, state = model.step(target[:, position], state)
    chosen = step_through(model, target[rows, 3:], state.select(rows))
    expected = model(source, target) if family == "encoder-decoder" else model(target)
    torch.testing.assert_close(chosen, expected.log_softmax(-1)[rows, 3:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
@torch.no_grad()
def test_beams_that_share_a_state_are_as_rows_of_their_own(family: str, pattern: str) -> None:
    model = small_model(family=family, pattern=pattern).eval()
    source = random_ids(3, 8)
    source[0, 3:] = 0
    prompt = random_ids(3, 4 if family == "decoder-only" else 0)
    state = model.start(source if family == "encoder-decoder" else prompt)
    written = torch.full((3, 1, 1), BOS)  # (B, N, T)
    for _ in range(12):
        log_probabilities, state = model.step(written[:, :, -1], state)
        for beam in range(written.size(1)):
            whole = torch.cat([prompt, written[:, beam]], dim=1)
            logits = model(source, whole) if family == "encoder-decoder" else model(whole)
            torch.testing.assert_close(log_probabilities[:, beam], logits[:, -1].log_softmax(-1), atol=1e-5, rtol=1e-5)
        parents = torch.randint(0, written.size(1), (3, 4))
        state = state.branch(parents)
        history = written.gather(1, parents[..., None].expand(-1, -1, written.size(2)))
        written = torch.cat([history, random_ids(3, 4)[..., None]], dim=2)


@torch.no_grad()
def test_a_step_gives_a_distribution() -> None:
    model = small_model().eval()
    log_probabilities, state = model.step(torch.tensor([BOS, BOS]), model.start(random_ids(2, 4)))
    torch.testing.assert_close(log_probabilities.exp().sum(-1), torch.ones(2))
    assert state.position == 1


def test_prefixes_of_different_lengths_are_refused() -> None:
    with pytest.raises(UserError, match="the prefixes of a batch must be equally long"):
        small_model(family="decoder-only").start(torch.tensor([[5, 6], [5, 0]]))


@pytest.mark.parametrize("family", FAMILIES)
def test_too_long_for_learned_positions(family: str) -> None:
    model = small_model(family=family, positions="learned", max_positions=10)
    assert states_of(model, random_ids(1, 10)).shape == (1, 10, 16)
    with pytest.raises(UserError, match="11 tokens, but the model has learned only 10 positions"):
        states_of(model, random_ids(1, 11))


def test_a_sentence_label_ignores_padding() -> None:
    model = small_model(family="encoder-only", head="classification").eval()
    ids = random_ids(2, 6)
    torch.testing.assert_close(model(F.pad(ids, (0, 5))), model(ids), atol=1e-5, rtol=1e-5)
