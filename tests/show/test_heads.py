"""Statistics against plain loops; switching a head off against taking its weights away."""

import json
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from headway.data.objectives import Seq2SeqBatch, TokenBatch, padded
from headway.models import Model
from headway.show.heads import MEASURES, ablate_heads, attentions_of, head_off, head_statistics, loss_per_token
from headway.text.specials import PAD

SENTENCES = [([7, 8, 9, 10, 2], [1, 11, 12]), ([13, 2], [1, 14, 15, 16, 17]), ([9, 9, 20, 2], [1, 5])]


def batch_of(pairs: list[tuple[list[int], list[int]]]) -> Seq2SeqBatch:
    sources, targets = ([torch.tensor(side).numpy() for side in sides] for sides in zip(*pairs, strict=True))
    answers = [torch.tensor([*target[1:], 2]).numpy() for _, target in pairs]
    return Seq2SeqBatch(padded(sources), padded(targets), padded(answers))


def measured_plainly(weights: list[float], query: int) -> dict[str, float]:
    top = max(range(len(weights)), key=weights.__getitem__)
    return {
        "entropy": -sum(w * math.log2(w) for w in weights if w > 0),
        "distance": sum(w * abs(key - query) for key, w in enumerate(weights)),
        "confidence": weights[top],
        "previous": top == query - 1,
        "same": top == query,
        "next": top == query + 1,
        "first": top == 0,
        "last": top == len(weights) - 1,
    }


@torch.no_grad()
def test_statistics_equal_plain_loops_over_single_sentences(model_of: Callable[..., Model]) -> None:
    model = model_of().eval()
    found = head_statistics(model, [batch_of(SENTENCES[:2]), batch_of(SENTENCES[2:])])
    assert found.sentences == 3
    assert len(found.heads) == 3 * 3 * 4
    expected: dict[tuple[str, int, int], list[dict[str, float]]] = {}
    for source, target in SENTENCES:
        _, maps = model.states(torch.tensor([source]), torch.tensor([target]), with_weights=True)
        for kind in ("encoder", "decoder", "cross"):
            for layer, weights in enumerate(getattr(maps, kind)):
                for head, rows in enumerate(weights[0].tolist()):
                    measured = [measured_plainly(row, query) for query, row in enumerate(rows)]
                    expected.setdefault((kind, layer, head), []).extend(measured)
    for head in found.heads:
        of_queries = expected[head.kind, head.layer, head.head]
        for name in MEASURES:
            mean = sum(each[name] for each in of_queries) / len(of_queries)
            assert getattr(head, name) == pytest.approx(mean, abs=1e-5), (head, name)


@pytest.mark.parametrize(("family", "kind"), [("encoder-only", "encoder"), ("decoder-only", "decoder")])
def test_models_of_one_stack_have_statistics_of_one_kind(
    family: str, kind: str, model_of: Callable[..., Model]
) -> None:
    tokens = padded([torch.tensor([7, 8, 9]).numpy()])
    model = model_of(family)
    found = head_statistics(model, [TokenBatch(tokens, tokens)])
    assert {head.kind for head in found.heads} == {kind}
    assert json.loads(json.dumps(found.as_json()))["heads"][0]["kind"] == kind
    assert [attention.heads for _, _, attention in attentions_of(model)] == [4, 4, 4]


@torch.no_grad()
def test_a_head_that_is_off_is_a_head_whose_output_weights_are_zero(model_of: Callable[..., Model]) -> None:
    model = model_of().eval()
    batch = batch_of(SENTENCES)
    for _, _, attention in attentions_of(model):
        whole = model(batch.source, batch.target)
        with head_off(attention, 2):
            off = model(batch.source, batch.target)
        weight = attention.to_output.weight.clone()
        width = weight.size(1) // attention.heads
        attention.to_output.weight[:, 2 * width : 3 * width] = 0
        taken_away = model(batch.source, batch.target)
        attention.to_output.weight.copy_(weight)
        torch.testing.assert_close(off, taken_away)
        assert not torch.allclose(off, whole)
        torch.testing.assert_close(model(batch.source, batch.target), whole)


def test_ablation_measures_the_model_without_each_head(model_of: Callable[..., Model]) -> None:
    model = model_of()
    batches = [batch_of(SENTENCES)]
    told = []
    found = ablate_heads(model, lambda: loss_per_token(model, batches), lambda *counts: told.append(counts))
    assert found.whole == loss_per_token(model, batches)
    assert len(found.heads) == 36
    assert told == [(number, 36) for number in range(1, 37)]
    last = found.heads[-1]
    assert (last.kind, last.layer, last.head) == ("cross", 2, 3)
    with head_off(model.decoder.layers[2].cross_attention, 3):
        assert last.without == loss_per_token(model, batches)
    assert last.change == last.without - found.whole != 0
    assert json.loads(json.dumps(found.as_json()))["whole"] == found.whole


@torch.no_grad()
def test_the_loss_is_the_mean_over_the_tokens_of_all_batches(model_of: Callable[..., Model]) -> None:
    model = model_of().eval()
    one, other = batch_of(SENTENCES[:2]), batch_of(SENTENCES[2:])
    total = sum(
        F.cross_entropy(model(b.source, b.target).flatten(0, 1), b.answer.flatten(), ignore_index=PAD, reduction="sum")
        for b in (one, other)
    )
    assert loss_per_token(model, [one, other]) == pytest.approx(float(total) / 10, abs=1e-5)
