"""A corpus, and the validation and test sets that go with it -> what is wrong with them, before any training.

Each corpus is read once. Texts stay in memory only as the few examples of each finding, and of the first pairs, which
the tokenizer is learned from. Of validation and test sets all folded texts stay as hashes, so that the training corpus
can be searched for them.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Literal

from headway.config import Config
from headway.text.corpus import Corpus, Pair
from headway.text.files import is_stdin, read_blocks
from headway.text.findings import EXAMPLES, Example, Finding, HealthReport, TokenizerFacts, example, judge
from headway.text.learn import default_vocabulary, learn_tokenizer
from headway.text.survey import Survey, hash_bytes, take, unit_of
from headway.text.tokenizer import Tokenizer

Progress = Callable[[str, int], None]
Form = Literal["NFC", "NFKC"]

SAMPLE_PAIRS, SAMPLE_CHARACTERS = 200_000, 50_000_000
"""The tokenizer is learned from the first pairs, at most these many."""


def check_corpus(
    corpus: Corpus,
    config: Config,
    *,
    valid: Corpus | None = None,
    test: Corpus | None = None,
    on_progress: Progress = lambda _role, _pairs: None,
) -> HealthReport:
    """Read a training corpus, and the sets to validate and test with; `on_progress` gets a role and pairs so far."""
    held_out = {role: other for role, other in (("valid", valid), ("test", test)) if other}
    for path in chain.from_iterable(one.paths for one in (corpus, *held_out.values())):
        # A slip in the last file name should not take minutes to be noticed; but a pipe can be read only once.
        if not is_stdin(path) and (os.path.isfile(path) or not os.path.exists(path)):
            next(read_blocks(path), None)
    pairs = iter(corpus)
    sample = take(pairs, SAMPLE_PAIRS, SAMPLE_CHARACTERS)
    on_progress("learn", len(sample))
    tokenizers = learn_tokenizers(sample, config)
    form: Form = "NFKC" if config.tokenizer.normalisation == "nfkc" else "NFC"
    sets = {role: HeldOut(form, unit_of(corpus)) for role in held_out}
    results = {}
    for role, other in held_out.items():
        survey = Survey(config, tokenizers, sets[role].add)
        others = iter(other)
        survey.read(others, take(others, SAMPLE_PAIRS, SAMPLE_CHARACTERS), partial(on_progress, role))
        results[role] = survey, other
    survey = Survey(config, tokenizers, partial(_search, list(sets.values()), form))
    survey.read(pairs, sample, partial(on_progress, "train"))
    facts = TokenizerFacts(
        kind=config.tokenizer.kind,
        normalisation=config.tokenizer.normalisation,
        sizes=tuple(len(tokenizer) for tokenizer in tokenizers[: 1 if config.tokenizer.shared else 2]),
        learned_from=len(sample),
        size_for_all=None if config.tokenizer.size else default_vocabulary(survey.pairs),
    )
    # Only now, as the sets did not know what training has before it was read.
    held = {role: survey.result(other, sets[role].findings()) for role, (survey, other) in results.items()}
    return HealthReport(facts, survey.result(corpus), **held)


def learn_tokenizers(sample: Sequence[Pair], config: Config) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of both sides, which are one if the settings say so; its size suits the sample by default."""
    kind, normalisation = config.tokenizer.kind, config.tokenizer.normalisation
    size = config.tokenizer.size or default_vocabulary(len(sample))
    if config.tokenizer.shared:
        both = learn_tokenizer((text for pair in sample for text in pair), kind, size, normalisation)
        return both, both
    source = learn_tokenizer((pair.source for pair in sample), kind, size, normalisation)
    return source, learn_tokenizer((pair.target for pair in sample), kind, size, normalisation)


class HeldOut:
    """The folded texts of a set that training should not have: hashes, by pair and by side."""

    def __init__(self, form: Form, training_unit: str) -> None:
        self._training_unit = training_unit
        self._form: Form = form
        self.pairs = 0
        self._lines: dict[str, dict[int, list[int]]] = {"pairs": {}, "sources": {}, "targets": {}}
        self._met: dict[str, set[int]] = {kind: set() for kind in self._lines}
        self._examples: dict[str, list[Example]] = {kind: [] for kind in self._lines}

    def add(self, line: int, pair: Pair) -> None:
        """Take in a pair of the set."""
        self.pairs += 1
        for kind, key in folded_keys(pair, self._form):
            self._lines[kind].setdefault(key, []).append(line)

    def meet(self, line: int, pair: Pair, keys: Iterable[tuple[str, int]]) -> None:
        """See whether a pair of the training corpus, with these keys, is here."""
        for kind, key in keys:
            if key in self._lines[kind] and key not in self._met[kind]:
                self._met[kind].add(key)
                if len(self._examples[kind]) < EXAMPLES:
                    texts = {"pairs": tuple(pair), "sources": pair[:1], "targets": pair[1:]}[kind]
                    note = f"{self._training_unit} {line:,} of training"
                    self._examples[kind].append(example(self._lines[kind][key][0], texts, note))

    def findings(self) -> list[Finding]:
        """How many pairs of the set training has, whole or one side of them."""
        return [
            judge(f"{kind}_in_training", sum(len(lines[key]) for key in self._met[kind]), self.pairs, examples)
            for (kind, lines), examples in zip(self._lines.items(), self._examples.values(), strict=True)
        ]


def folded_keys(pair: Pair, form: Form) -> list[tuple[str, int]]:
    """By which a pair and its sides are found again, whatever their case and white space; what is empty has none."""
    source, target = (fold(text, form).encode() for text in pair)
    texts = (("pairs", source and target and source + b"\xff" + target), ("sources", source), ("targets", target))
    return [(kind, hash_bytes(text)) for kind, text in texts if text]


def fold(text: str, form: Form = "NFC") -> str:
    """The text without what makes no difference between two sentences: case, and how much white space."""
    if not text.isascii():
        text = unicodedata.normalize(form, text)
    return " ".join(text.casefold().split())


def _search(sets: Sequence[HeldOut], form: Form, line: int, pair: Pair) -> None:
    if sets:
        keys = folded_keys(pair, form)
        for held_out in sets:
            held_out.meet(line, pair, keys)
