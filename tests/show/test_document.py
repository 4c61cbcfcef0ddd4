"""The document has the model's own weights, in the form that docs/attention-page.md describes."""

import base64
import json
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shown import HEADS, LAYERS, SOURCE, TARGET

from headway.errors import UserError
from headway.models import Model
from headway.show.document import PARTS, Document, attention_document, in_parts
from headway.text.specials import BOS, EOS
from headway.text.vocabulary import Vocabulary


def unpacked(written: dict, kind: str) -> np.ndarray:
    """Weights as a reader of the documentation would get them."""
    maps = written["maps"][kind]
    rows, columns = (len(written["sequences"][maps[side]]["pieces"]) for side in ("queries", "keys"))
    parts = np.frombuffer(base64.b64decode(maps["weights"]), dtype="<u2")
    return parts.reshape(maps["layers"], maps["heads"], rows, columns) / 65535


def test_the_weights_are_those_of_the_model(
    document: Document, model_of: Callable[..., Model], vocabulary: Vocabulary
) -> None:
    written = json.loads(json.dumps(document.as_json()))
    source = torch.tensor([[*vocabulary.source.encode(SOURCE), EOS]])
    target = torch.tensor([[BOS, *vocabulary.target.encode(TARGET)]])
    with torch.no_grad():
        _, maps = model_of().eval().states(source, target, with_weights=True)
    assert written["version"] == 1
    for kind in ("encoder", "decoder", "cross"):
        expected = torch.cat(getattr(maps, kind)).numpy()
        read = unpacked(written, kind)
        assert read.shape[:2] == (LAYERS, HEADS)
        np.testing.assert_allclose(read, expected, atol=1 / 65535 + 1e-6)
        np.testing.assert_allclose(read.sum(-1), 1, atol=1e-9)


def test_the_pieces_are_those_of_the_texts(document: Document) -> None:
    source, target, written = (document.sequences[name] for name in ("source", "target", "written"))
    assert "".join(source.texts) == SOURCE + "</s>"
    assert "".join(target.texts) == "<s>" + TARGET
    assert "".join(written.texts) == TARGET + "</s>"
    assert [source.word(number) for number in range(4)] == ["The", "animal", "didn't", "cross"]


@pytest.mark.parametrize(
    ("family", "kind", "name"), [("encoder-only", "encoder", "source"), ("decoder-only", "decoder", "target")]
)
def test_models_of_one_stack_have_one_kind(
    family: str, kind: str, name: str, model_of: Callable[..., Model], vocabulary: Vocabulary
) -> None:
    document = attention_document(model_of(family), vocabulary, SOURCE)
    length = len(document.sequences[name].texts)
    assert list(document.maps) == [kind]
    assert document.maps[kind].weights.shape == (LAYERS, HEADS, length, length)


def test_a_decoder_only_model_reads_a_translation_after_its_source(
    model_of: Callable[..., Model], vocabulary: Vocabulary
) -> None:
    document = attention_document(model_of("decoder-only"), vocabulary, SOURCE, TARGET)
    assert "".join(document.sequences["target"].texts) == f"{SOURCE}</s><s>{TARGET}"
    assert document.sequences["written"].texts == (*document.sequences["target"].texts[1:], "</s>")
    assert (document.source_text, document.target_text) == (SOURCE, TARGET)


def test_an_encoder_only_model_reads_one_text(model_of: Callable[..., Model], vocabulary: Vocabulary) -> None:
    with pytest.raises(UserError, match="one text"):
        attention_document(model_of("encoder-only"), vocabulary, SOURCE, TARGET)


def test_an_encoder_decoder_needs_a_translation(model_of: Callable[..., Model], vocabulary: Vocabulary) -> None:
    with pytest.raises(UserError, match="give target_text"):
        attention_document(model_of(), vocabulary, SOURCE)


def test_dropout_is_off_while_looking_and_on_again_after(
    model_of: Callable[..., Model], vocabulary: Vocabulary, document: Document
) -> None:
    model = model_of(dropout=0.5).train()
    looked = attention_document(model, vocabulary, SOURCE, TARGET)
    assert model.training
    np.testing.assert_array_equal(looked.maps["cross"].weights, document.maps["cross"].weights)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=300).filter(lambda row: sum(row) > 1e-3))
def test_parts_are_whole_and_near_and_sum_up(row: list[float]) -> None:
    weights = np.array(row, dtype=np.float32)
    weights /= weights.sum(dtype=np.float64)
    parts = in_parts(weights)
    assert parts.sum() == PARTS
    assert np.abs(parts / PARTS - weights).max() <= 1 / PARTS + 1e-6


def test_a_query_that_may_look_nowhere_stays_empty() -> None:
    assert in_parts(np.zeros((2, 3), dtype=np.float32)).tolist() == [[0, 0, 0], [0, 0, 0]]
