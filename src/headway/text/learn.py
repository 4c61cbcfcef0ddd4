"""Lines of text -> a tokenizer of the kind and size asked for."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice, repeat
from typing import Any, Literal

from tokenizers import (
    NormalizedString,
    PreTokenizedString,
    Regex,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers import Tokenizer as Engine

from headway.errors import UserError
from headway.text.specials import SPECIAL_TOKENS, UNK
from headway.text.tokenizer import Tokenizer
from headway.text.word_counts import count_words

Kind = Literal["bpe", "unigram", "wordpiece", "byte-level", "character", "word"]
Normalisation = Literal["nfc", "nfkc", "none"]

WORDS = Regex(r" ?[\p{L}\p{M}]+| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+")
BYTES = [f"<0x{value:02X}>" for value in range(256)]
BYTE_CHARACTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
"""The characters that bytes are written as by the kinds that work on bytes."""
COPIES = 1000
"""Words that a trainer is given at once."""
CONTINUES = "\N{RIGHTWARDS ARROW}"
"""Marks WordPiece's pieces inside a word; no byte is written as this character."""
CONTINUING_BYTES = [CONTINUES + character for character in BYTE_CHARACTERS]


def default_vocabulary(pairs: int) -> int:
    """A size that suits a corpus: 8,000 tokens at 30,000 pairs, 36,000 at 4.5 million (the paper: 37,000)."""
    size = 8000 * (pairs / 30_000) ** 0.3
    return min(max(round(size / 500) * 500, 1000), 40_000)


def learn_tokenizer(
    lines: Iterable[str], kind: Kind = "bpe", size: int = 8000, normalisation: Normalisation = "nfc"
) -> Tokenizer:
    """Learn pieces from lines of text; the vocabulary has at most `size` tokens, fewer if the text has no more."""
    engine = Engine(models.BPE())
    engine.normalizer = {"nfc": normalizers.NFC(), "nfkc": normalizers.NFKC(), "none": None}[normalisation]
    engine.pre_tokenizer = pre_tokenizers.Split(WORDS, "isolated")
    engine.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    match kind:
        case "bpe":
            _learn_bpe(engine, lines, _room(size, BYTES))
        case "unigram":
            _learn_unigram(engine, lines, _room(size, BYTES))
        case "word":
            _learn_words(engine, lines, _room(size, BYTES))
        case "character":
            engine.pre_tokenizer = pre_tokenizers.Split(Regex("(?m)."), "isolated")
            _learn_words(engine, lines, _room(size, BYTES))
        case "byte-level":
            _work_on_bytes(engine)
            _learn_bpe(engine, lines, _room(size, BYTE_CHARACTERS), BYTE_CHARACTERS)
        case "wordpiece":
            _work_on_bytes(engine)
            _learn_wordpiece(engine, lines, _room(size, BYTE_CHARACTERS + CONTINUING_BYTES))
    return Tokenizer(engine)


def _room(size: int, given: list[str]) -> int:
    """How many pieces may be learned beside the special tokens and what is given."""
    needed = len(SPECIAL_TOKENS) + len(given)
    if size <= needed:
        raise UserError(
            f"tokenizer.size = {size} leaves no room for pieces: special tokens and bytes take {needed}; "
            f"choose at least {needed + 1}, or leave the size to be chosen from the corpus"
        )
    return size - needed


def _work_on_bytes(engine: Engine) -> None:
    """Write every byte of a word as a character of its own, and back."""
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    engine.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(WORDS, "isolated"), as_bytes])
    engine.decoder = decoders.ByteLevel()


def _learn_bpe(engine: Engine, lines: Iterable[str], room: int, alphabet: list[str] | None = None) -> None:
    """Merge the most frequent pair, again and again (Sennrich et al., 2016)."""
    given = alphabet or BYTES
    trainer = trainers.BpeTrainer(
        vocab_size=room + len(alphabet or []),
        initial_alphabet=alphabet or [],
        limit_alphabet=max(room // 2, len(given)),  # rarer characters are left to the bytes
        show_progress=False,
    )
    learned = _train(engine, models.BPE(), lines, trainer)
    merges = [tuple(pair) for pair in learned["merges"]]
    engine.model = models.BPE(_ids(given, learned["vocab"]), merges, byte_fallback=alphabet is None)


def _learn_unigram(engine: Engine, lines: Iterable[str], room: int) -> None:
    """Start with many pieces and drop those that the likelihood misses least (Kudo, 2018).

    The library adds probabilities in an order that changes from run to run, even on one thread, so that learning
    twice may give vocabularies that differ in a few pieces. The other kinds always learn the same.
    """
    trainer = trainers.UnigramTrainer(vocab_size=room + 1, unk_token=SPECIAL_TOKENS[UNK], show_progress=False)
    learned = dict(_train(engine, models.Unigram(), lines, trainer)["vocab"])
    del learned[SPECIAL_TOKENS[UNK]]
    # Six digits tell pieces apart, and survive being written and read.
    pieces = sorted(
        ((piece, round(score, 6)) for piece, score in learned.items()), key=lambda item: (-item[1], item[0])
    )
    worst = min(learned.values(), default=0.0) // 1 - 10  # bytes are the last resort
    vocabulary = [(token, worst) for token in (*SPECIAL_TOKENS, *BYTES)] + pieces
    engine.model = models.Unigram(vocabulary, unk_id=UNK, byte_fallback=True)


def _learn_words(engine: Engine, lines: Iterable[str], room: int) -> None:
    """The most frequent words, or characters, whole."""
    trainer = trainers.WordLevelTrainer(vocab_size=room, show_progress=False)
    learned = _train(engine, models.WordLevel(), lines, trainer)
    engine.model = models.BPE(_ids(BYTES, learned["vocab"]), [], byte_fallback=True, ignore_merges=True)


def _learn_wordpiece(engine: Engine, lines: Iterable[str], room: int) -> None:
    """BPE's pieces, found in a word from left to right, longest first (Wu et al., 2016)."""
    given = BYTE_CHARACTERS + CONTINUING_BYTES
    shape: dict[str, Any] = {"continuing_subword_prefix": CONTINUES}
    trainer = trainers.WordPieceTrainer(
        vocab_size=room + len(given),
        special_tokens=given,  # numbered in this order, else in a random one, which decides between equal pairs
        show_progress=False,
        **shape,
    )
    learned = _train(engine, models.WordPiece(**shape), lines, trainer)
    unknown: dict[str, Any] = {"unk_token": SPECIAL_TOKENS[UNK], "max_input_chars_per_word": 1 << 62}
    engine.model = models.WordPiece(_ids(given, learned["vocab"]), **unknown, **shape)
    engine.decoder = decoders.Sequence([decoders.Replace(CONTINUES, ""), decoders.ByteLevel()])


def _train(engine: Engine, model: Any, lines: Iterable[str], trainer: Any) -> dict[str, Any]:
    """What a trainer makes of `model`, as JSON; `engine` lends its view of text and stays as it is."""
    counts = count_words(lines, Tokenizer(engine).words)
    scratch = Engine(model)
    scratch.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(_Copies(counts))
    with _one_thread():
        scratch.train_from_iterator(repeat("any", -(-counts.total() // COPIES)), trainer)
    scratch.pre_tokenizer = None  # ours cannot be written as JSON
    learned: dict[str, Any] = json.loads(scratch.to_str())["model"]
    return learned


class _Copies:
    """Gives a trainer each word as often as it was counted, whatever the text: counts it cannot be told.

    For the library to count copies costs a fifth of what it takes to cut the lines into these words.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self._words = chain.from_iterable(map(repeat, map(NormalizedString, counts), counts.values()))

    def pre_tokenize(self, text: PreTokenizedString) -> None:
        """The next words."""
        text.split(lambda *_: list(islice(self._words, COPIES)))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep the library to one thread: a merge is too little work to share, and sharing it takes twice as long."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def _ids(given: list[str], learned: dict[str, int]) -> dict[str, int]:
    """Special tokens, what is given, and the learned pieces in the order in which they were learned."""
    pieces = sorted(learned.keys() - set(given), key=learned.__getitem__)
    return {token: number for number, token in enumerate((*SPECIAL_TOKENS, *given, *pieces))}
