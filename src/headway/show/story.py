"""The head that a page opens on: found by a rule, which the page states, and not chosen by hand.

If the source has a pronoun that stands for something said before it, as *it* in *The animal didn't cross the street
because it was too tired*, the page opens on the encoder head in which the pronoun gives the most weight to one
candidate: an earlier word that is not a function word and not the pronoun's neighbour (a head that always looks at
the neighbour would win, and tell nothing). The first layer does not count if there are more: in it a pronoun knows
only itself and its place, and not yet the sentence.

Else it opens on the head with the sharpest alignment. A head is sharp if each query looks at few keys; that is not
enough, as a head in which all queries look at the full stop is sharp as well. What is measured is how much better one
knows where a query looks once one knows which query it is: the entropy of the mean row less the mean entropy of the
rows, which is the mutual information of queries and keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headway.show.document import Document, Kind, Maps, Pieces, Weights

PRONOUNS = frozenset(
    ("it", "he", "she", "they", "il", "elle", "ils", "elles", "它", "他", "她", "它们", "他们", "她们")
)
ENGLISH = """
a an the this that these those my your his her its our their and or but because so if when while although
of in on at to from by with for into over under after before about as than not no never too very
is are was were be been am do does did don't doesn't didn't has have had hasn't haven't will would won't
can can't could couldn't may might must should shouldn't isn't aren't wasn't weren't
i you he she it we they me him them us who which what there
"""
FRENCH = """
un une le la les l' des du de d' ce c' cet cette ces mon ton son ma ta sa mes tes ses notre votre leur nos vos leurs
et ou mais parce que qu' car si quand pendant dans sur sous à au aux en par pour avec sans chez entre
ne n' pas jamais trop très est sont était étaient sera seront ai as a ont avait avaient été être avoir
je j' tu il elle on nous vous ils elles me m' te t' se s' lui qui y
"""
CHINESE = "的 了 在 是 不 没 没有 因为 所以 这 那 个 只 条 太 很 和 或 也 就 都 把 被"
FUNCTION_WORDS = frozenset(f"{ENGLISH} {FRENCH} {CHINESE}".split())

PRONOUN_RULE = (
    "The source has a pronoun that stands for something before it. Of all encoder heads, the page opens on the one in "
    "which the pronoun gives the most weight to one earlier word. Function words and the word right before the "
    "pronoun do not count; nor does the first of several layers, in which a pronoun does not know its sentence yet."
)
ALIGNMENT_RULE = (
    "The page opens on the {kind} head with the sharpest alignment: knowing the query tells most about where it looks "
    "(entropy of the mean row less mean entropy of the rows, in bits)."
)
NAMES: dict[Kind, str] = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}


@dataclass(frozen=True)
class Opening:
    """Where a page begins, by which rule, and what was found by it. Layers, heads and pieces count from 0."""

    kind: Kind
    layer: int
    head: int
    query: int | None
    """The piece whose attention is shown first, if the story is about one."""
    rule: str
    finding: str


def choose_opening(document: Document) -> Opening:
    """The head that tells the story of a sentence."""
    if "encoder" in document.maps:
        source = document.sequences["source"]
        for pronoun, candidates in pronouns(source):
            return _antecedent_head(source, document.maps["encoder"], pronoun, candidates)
    kind: Kind = "cross" if "cross" in document.maps else next(iter(document.maps))
    return _aligned_head(kind, document.maps[kind])


def pronouns(source: Pieces) -> Iterator[tuple[int, list[int]]]:
    """The pronouns that have candidates to stand for: numbers of the word and of the candidates."""
    words = [source.word(number).lower() for number in range(max(source.words) + 1)]
    content = [word.isalpha() and word not in FUNCTION_WORDS | PRONOUNS for word in words]
    for place, word in enumerate(words):
        candidates = [earlier for earlier in range(place - 1) if content[earlier]]
        if word in PRONOUNS and candidates:
            yield place, candidates


def alignment(weights: Weights) -> Weights:
    """How many bits the query tells about the key, for maps (..., Q, K): the mutual information, queries alike."""
    return _entropy(weights.mean(-2)) - _entropy(weights).mean(-1)


def _antecedent_head(source: Pieces, maps: Maps, pronoun: int, candidates: list[int]) -> Opening:
    """The head in which a pronoun gives the most weight to one of the candidates."""
    owner = np.array(source.words)
    looks = maps.weights[:, :, owner == pronoun].mean(2)  # (layers, heads, K)
    if len(looks) > 1:
        looks[0] = 0
    on_each = np.stack([looks[..., owner == candidate].sum(-1) for candidate in candidates], -1)
    layer, head, best = np.unravel_index(on_each.argmax(), on_each.shape)
    weight = on_each[layer, head, best]
    return Opening(
        "encoder",
        int(layer),
        int(head),
        next(place for place in np.flatnonzero(owner == pronoun).tolist() if source.texts[place].strip()),
        PRONOUN_RULE,
        f"In layer {layer + 1}, head {head + 1}, “{source.word(pronoun)}” gives {weight:.2f} of its attention to "
        f"{_quoted(source, candidates[best])}.",
    )


def _quoted(source: Pieces, number: int) -> str:
    """A word, and its pieces if there are several."""
    pieces = [text.strip() for text, own in zip(source.texts, source.words, strict=True) if own == number]
    return f"“{source.word(number)}”" + (f" ({' + '.join(pieces)})" if len(pieces) > 1 else "")


def _aligned_head(kind: Kind, maps: Maps) -> Opening:
    """The head with the sharpest alignment."""
    bits = alignment(maps.weights)  # (layers, heads)
    layer, head = np.unravel_index(bits.argmax(), bits.shape)
    return Opening(
        kind,
        int(layer),
        int(head),
        None,
        ALIGNMENT_RULE.format(kind=NAMES[kind]),
        f"In layer {layer + 1}, head {head + 1}, a query tells {bits[layer, head]:.1f} bits about where it looks.",
    )


def _entropy(weights: Weights) -> Weights:
    """In bits, of distributions (..., K)."""
    return -(weights * np.log2(np.maximum(weights, np.finfo(np.float32).tiny))).sum(-1)
