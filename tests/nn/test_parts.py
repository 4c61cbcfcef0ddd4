"""The small parts: dropout, norms and residuals, feed-forward, embedding, caches."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UserError
from headway.nn.cache import FixedCache, GrowingCache
from headway.nn.dropout import Dropout, keep_mask
from headway.nn.embedding import Embedding
from headway.nn.feedforward import FeedForward
from headway.nn.residual import LayerNorm, MaskedBatchNorm, PostNorm, PreNorm


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_dropout_has_the_rate_asked_for_and_keeps_the_mean(rate: float) -> None:
    count = 4_000_001
    kept = keep_mask(torch.empty(count), rate)
    share = (kept == 0).float().mean().item()
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / count) ** 0.5)  # five standard deviations
    assert kept.double().mean().item() == pytest.approx(1, abs=0.005)
    twin = F.dropout(torch.ones(1000), rate)
    assert kept.max().item() == pytest.approx(twin.max().item(), rel=1e-4)


def test_dropout_treats_neighbours_independently() -> None:
    dropped = (keep_mask(torch.empty(1_000_000), 0.5) == 0).float()
    for distance in (1, 2, 3, 4, 8):  # four elements share one random number
        together = (dropped[:-distance] * dropped[distance:]).mean().item()
        assert together == pytest.approx(0.25, abs=0.005)


def test_dropout_gives_gradients_only_to_what_it_kept() -> None:
    x = torch.randn(50, 7, dtype=torch.float64, requires_grad=True)
    y = Dropout(0.4)(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient * x, y)
    assert 0 < (gradient == 0).sum() < x.numel()


def test_dropout_rests_when_not_training() -> None:
    x = torch.randn(50, 7)
    assert Dropout(0.4).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


@pytest.mark.parametrize("training", [True, False])
def test_dropout_adds_in_one_pass_what_it_would_add_in_two(training: bool) -> None:
    dropout = Dropout(0.4).train(training)
    results = []
    for add in (dropout.add, lambda x, change: x + dropout(change)):
        x, change = (torch.linspace(-1, 1, 300).requires_grad_() for _ in range(2))
        torch.manual_seed(1)
        y = add(x, change)
        y.square().sum().backward()
        results.append((y, x.grad, change.grad))
    torch.testing.assert_close(*results)


def test_dropout_repeats_from_a_seed() -> None:
    masks = []
    for _ in range(2):
        torch.manual_seed(5)
        masks.append(keep_mask(torch.empty(33), 0.5))
    assert masks[0].equal(masks[1])


def some_tokens() -> tuple[torch.Tensor, torch.Tensor]:
    real = torch.tensor([[True, True, True], [True, False, False]])
    return torch.randn(2, 3, 5), real


def test_batch_norm_counts_the_real_tokens_only() -> None:
    x, real = some_tokens()
    norm = MaskedBatchNorm(5, 1e-6)
    y = norm(x, real)
    tokens = x[real]
    expected = (tokens - tokens.mean(0)) / (tokens.var(0, unbiased=False) + 1e-6).sqrt()
    torch.testing.assert_close(y[real], expected, atol=1e-5, rtol=1e-5)
    assert norm(F.pad(x, (0, 0, 0, 4), value=9.0), F.pad(real, (0, 4)))[:, :3].equal(y)
    torch.testing.assert_close(norm.norm.running_mean, 0.1 * tokens.mean(0) * (1 + 0.9), atol=1e-5, rtol=1e-5)


def test_batch_norm_uses_running_averages_when_not_training() -> None:
    x, real = some_tokens()
    norm = MaskedBatchNorm(5, 1e-6).eval()
    torch.testing.assert_close(norm(x, real), x, atol=1e-5, rtol=1e-5)  # they start at mean 0, variance 1


def test_batch_norm_lets_the_past_see_the_future_while_training_only() -> None:
    x, real = torch.randn(1, 4, 5, requires_grad=True), torch.ones(1, 4, dtype=torch.bool)
    norm = MaskedBatchNorm(5, 1e-6)
    (leaking,) = torch.autograd.grad(norm(x, real)[0, 0].square().sum(), x)
    (tight,) = torch.autograd.grad(norm.eval()(x, real)[0, 0].square().sum(), x)
    assert leaking[0, 1:].any()
    assert not tight[0, 1:].any()


def test_post_norm_and_pre_norm() -> None:
    x, change = torch.randn(2, 3, 5), torch.randn(2, 3, 5)
    norm = LayerNorm(5)
    post, pre = PostNorm(norm, 0.0), PreNorm(norm, 0.0)
    assert post.before(x, None) is x
    assert post.after(x, change, None).equal(norm(x + change))
    assert pre.before(x, None).equal(norm(x))
    assert pre.after(x, change, None).equal(x + change)


@pytest.mark.parametrize("around", [PostNorm, PreNorm])
def test_dropout_falls_on_the_sublayer_output_before_the_sum(around: type[PostNorm | PreNorm]) -> None:
    x, change = torch.zeros(1, 1, 4000), torch.ones(1, 1, 4000)
    after = around(LayerNorm(4000, elementwise_affine=False), 0.25).after(x, change, None)
    assert len(after.unique()) == 2


def test_feed_forward_is_the_formula() -> None:
    x = torch.randn(2, 3, 4)
    ffn = FeedForward(4, 6)
    expected = (x @ ffn.widen.weight.T + ffn.widen.bias).clamp(min=0) @ ffn.narrow.weight.T + ffn.narrow.bias
    torch.testing.assert_close(ffn(x), expected)
    gelu = FeedForward(4, 6, "gelu")
    torch.testing.assert_close(gelu(x), gelu.narrow(F.gelu(gelu.widen(x))))


def test_swiglu_gates_one_product_by_another() -> None:
    x = torch.randn(2, 3, 4)
    ffn = FeedForward(4, 6, "swiglu")
    gate, value = ffn.widen(x)[..., :6], ffn.widen(x)[..., 6:]
    torch.testing.assert_close(ffn(x), ffn.narrow(gate * torch.sigmoid(gate) * value))


def test_the_embedding_is_scaled_by_the_root_of_the_width() -> None:
    embedding = Embedding(10, 16)
    torch.testing.assert_close(embedding(torch.tensor([[3]]))[0, 0], 4 * embedding.weight[3])


@pytest.mark.parametrize(("wrong", "position"), [(10, 1), (-1, 0)])
def test_an_id_outside_the_vocabulary_is_named(wrong: int, position: int) -> None:
    ids = torch.tensor([[1, 2], [3, 4]])
    ids[1, position] = wrong
    message = f"token id {wrong} at row 1, position {position} is outside the vocabulary: ids run from 0 to 9"
    with pytest.raises(UserError, match=message):
        Embedding(10, 4)(ids)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 11))
def test_a_growing_cache_holds_everything_appended(sizes: list[int], reorder_at: int) -> None:
    cache, kept = GrowingCache(), torch.empty(2, 3, 0, 4)
    for step, size in enumerate(sizes):
        new = torch.randn(len(kept), 3, size, 4)
        kept = torch.cat([kept, new], dim=2)
        memory = torch.empty(len(kept), size, 1)
        keys, values = cache.recall(memory, lambda _, new=new: (new, -new))
        assert keys.equal(kept)
        assert values.equal(-kept)
        if step == reorder_at:
            rows = torch.tensor([1, 0, 1])
            cache, kept = cache.select(rows), kept[rows]


def test_a_selected_cache_is_a_copy() -> None:
    cache = GrowingCache()
    cache.recall(torch.empty(2, 1, 1), lambda _: (torch.zeros(2, 1, 1, 1), torch.zeros(2, 1, 1, 1)))
    copy = cache.select(torch.tensor([0, 1]))
    one = torch.ones(2, 1, 1, 1)
    cache.recall(torch.empty(2, 1, 1), lambda _: (one, one))
    keys, _ = copy.recall(torch.empty(2, 1, 1), lambda _: (2 * one, 2 * one))
    assert keys[0, 0, :, 0].tolist() == [0.0, 2.0]


def test_a_fixed_cache_never_projects() -> None:
    keys, values = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5)
    cache = FixedCache(keys, values).select(torch.tensor([1, 1]))
    recalled, _ = cache.recall(None, lambda _: pytest.fail("projected again"))
    assert recalled.equal(keys[[1, 1]])
