"""The head that the page opens on follows from the rule."""

import numpy as np

from headway.show.document import Document, Maps, Pieces
from headway.show.story import alignment, choose_opening
from headway.show.words import word_numbers

SOURCE = ["The", " an", "imal", " saw", " the", " street", " because", " it", " was", " tired", ".", "</s>"]
IT = 7


def pieces(texts: list[str]) -> Pieces:
    return Pieces(tuple(texts), tuple(word_numbers(texts)))


def even(layers: int, heads: int, rows: int, columns: int) -> np.ndarray:
    return np.full((layers, heads, rows, columns), 1 / columns, dtype=np.float32)


def document_of(encoder: np.ndarray, texts: list[str] = SOURCE, cross: np.ndarray | None = None) -> Document:
    maps = {"encoder": Maps("source", "source", encoder)}
    sequences = {"source": pieces(texts)}
    if cross is not None:
        maps["cross"] = Maps("written", "source", cross)
        sequences["written"] = pieces(["il", "</s>"])
    return Document("".join(texts[:-1]), "il", sequences, maps)


def look(encoder: np.ndarray, layer: int, head: int, **weights: float) -> None:
    """Let the pronoun look at the given pieces, and with the rest of its weight at the end."""
    places = {int(name[1:]): weight for name, weight in weights.items()}
    encoder[layer, head, IT] = 0
    for place, weight in places.items():
        encoder[layer, head, IT, place] = weight
    encoder[layer, head, IT, -1] = 1 - sum(places.values())


def test_the_pronoun_looks_at_one_earlier_word_the_most() -> None:
    encoder = even(3, 2, 12, 12)
    look(encoder, 1, 0, p5=0.5)
    look(encoder, 2, 1, p1=0.3, p2=0.3)  # two pieces, one word
    opening = choose_opening(document_of(encoder))
    assert (opening.kind, opening.layer, opening.head, opening.query) == ("encoder", 2, 1, IT)
    assert opening.finding == "In layer 3, head 2, “it” gives 0.60 of its attention to “animal” (an + imal)."
    assert "pronoun" in opening.rule


def test_function_words_later_words_and_the_first_layer_do_not_count() -> None:
    encoder = even(3, 2, 12, 12)
    look(encoder, 0, 0, p5=0.99)
    look(encoder, 1, 0, p6=0.99)
    look(encoder, 1, 1, p4=0.99)
    look(encoder, 2, 0, p9=0.99)  # not earlier
    look(encoder, 2, 1, p5=0.2)
    opening = choose_opening(document_of(encoder))
    assert (opening.layer, opening.head) == (2, 1)


def test_the_word_right_before_the_pronoun_does_not_count() -> None:
    texts = ["Dogs", " think", " they", "</s>"]
    encoder = even(1, 2, 4, 4)
    encoder[0, 0, 2] = [0, 1, 0, 0]
    encoder[0, 1, 2] = [0.5, 0, 0, 0.5]
    assert choose_opening(document_of(encoder, texts)).head == 1


def test_one_layer_is_enough() -> None:
    encoder = even(1, 3, 12, 12)
    look(encoder, 0, 2, p5=0.9)
    opening = choose_opening(document_of(encoder))
    assert (opening.layer, opening.head) == (0, 2)


def test_without_a_pronoun_the_sharpest_alignment_is_taken() -> None:
    texts = ["It", " rains", ".", "</s>"]  # nothing stands before this pronoun
    cross = even(2, 2, 2, 4)
    cross[0, 1] = [[0, 0, 0, 1], [0, 0, 0, 1]]  # sharp, but says nothing
    cross[1, 0] = [[0.9, 0.1, 0, 0], [0, 0, 0.1, 0.9]]
    opening = choose_opening(document_of(even(2, 2, 4, 4), texts, cross))
    assert (opening.kind, opening.layer, opening.head, opening.query) == ("cross", 1, 0, None)
    assert opening.finding == "In layer 2, head 1, a query tells 1.0 bits about where it looks."
    assert "cross-attention" in opening.rule


def test_models_without_cross_attention_open_on_what_they_have() -> None:
    encoder = even(2, 2, 4, 4)
    encoder[1, 1] = np.eye(4)
    opening = choose_opening(document_of(encoder, ["It", " rains", ".", "</s>"]))
    assert (opening.kind, opening.layer, opening.head) == ("encoder", 1, 1)


def test_alignment_is_mutual_information() -> None:
    assert alignment(np.eye(8, dtype=np.float32)) == 3
    assert alignment(np.full((8, 8), 1 / 8, dtype=np.float32)) == 0
    assert alignment(np.eye(8, dtype=np.float32)[[0] * 8]) == 0


def test_a_pronoun_is_shown_by_what_can_be_seen_of_it() -> None:
    texts = ["dogs", " ", "run", " ", "if", " ", "they", " ", "can", "</s>"]
    assert choose_opening(document_of(even(2, 1, 10, 10), texts)).query == 6
