"""Words counted by parts of lines, and what is learned from the counts, against the plain way, line by line."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cuts import texts
from test_tokenizer import LINES

from headway.text import learn, word_counts
from headway.text.learn import learn_tokenizer
from headway.text.word_counts import count_words


@given(
    lines=st.lists(texts, max_size=20), limit=st.sampled_from([0, 5, 1 << 18]), block=st.sampled_from([1, 3, 10_000])
)
def test_every_word_is_counted(lines: list[str], limit: int, block: int) -> None:
    tokenizer = learn_tokenizer(LINES, "bpe", 700, "nfkc")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "LIMIT", limit)
        patch.setattr(word_counts, "BLOCK", block)
        counts = count_words(lines, tokenizer.words)
    assert counts == Counter(word for line in lines for word in tokenizer.words(line))


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "byte-level", "character", "word"])
def test_learning_from_counts_is_learning_from_lines(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def train_on_lines(engine, model, lines, trainer):
        scratch = learn.Engine(model)
        scratch.normalizer, scratch.pre_tokenizer = engine.normalizer, engine.pre_tokenizer
        scratch.train_from_iterator(lines, trainer)
        return json.loads(scratch.to_str())["model"]

    lines = [f"{line}  {n} e\N{COMBINING ACUTE ACCENT}" for n, line in enumerate(LINES * 10)]
    fast = learn_tokenizer(lines, kind, 900).to_json()
    monkeypatch.setattr(learn, "_train", train_on_lines)
    assert fast == learn_tokenizer(lines, kind, 900).to_json()


@pytest.mark.parametrize("before", [None, "true"])
def test_the_environment_is_left_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "TOKENIZERS_PARALLELISM"
    monkeypatch.delenv(name, raising=False)
    if before:
        monkeypatch.setenv(name, before)
    learn_tokenizer(LINES, "bpe", 700)
    assert learn.os.environ.get(name) == before
