"""A corpus, and the validation and test sets that go with it -> what is wrong with them, before any training.

Each corpus is read once. Texts stay in memory only as the few examples of each finding, and of the first pairs, which
the tokenizer is learned from.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from headway.config import Config
from headway.errors import UserError
from headway.text.corpus import Corpus, Pair
from headway.text.files import is_stdin, is_stream, read_blocks
from headway.text.findings import HealthReport, TokenizerFacts
from headway.text.learn import default_vocabulary
from headway.text.overlap import Form, HeldOut, Overlap, folded_keys
from headway.text.survey import Survey, take, unit_of
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import learn_vocabulary

Progress = Callable[[str, int], None]

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
    # In this order each set is known when it is looked for: the test in validation, both in training.
    given = {role: one for role, one in (("test", test), ("valid", valid), ("train", corpus)) if one is not None}
    _check_files(given.values())
    streams = {role: iter(one) for role, one in given.items()}
    sample = take(streams["train"], SAMPLE_PAIRS, SAMPLE_CHARACTERS)
    on_progress("learn", len(sample))
    vocabulary = learn_vocabulary(lambda: sample, len(sample), config.tokenizer)
    tokenizers = vocabulary.source, vocabulary.target
    sets: dict[str, HeldOut] = {}
    surveys: dict[str, Survey] = {}
    for role, stream in streams.items():
        name = "validation" if role == "valid" else "training"
        overlaps = [held_out.compare_with(name, unit_of(given[role])) for held_out in sets.values()]
        if role != "train":
            sets[role] = HeldOut()
        surveys[role] = Survey(config, tokenizers, _watch(sets.get(role), overlaps, config))
        first = sample if role == "train" else take(stream, SAMPLE_PAIRS, SAMPLE_CHARACTERS)
        surveys[role].read(stream, first, partial(on_progress, role))
    facts = _facts(config, tokenizers, len(sample), surveys["train"].pairs)
    found = {role: held_out.findings() for role, held_out in sets.items()}
    return HealthReport(facts, **{role: surveys[role].result(given[role], found.get(role, ())) for role in given})


def _check_files(corpora: Iterable[Corpus]) -> None:
    """Open all files once: a slip in the last name should not take minutes to be noticed."""
    paths = [path for corpus in corpora for path in corpus.paths]
    if sum(map(is_stdin, paths)) > 1:
        raise UserError("standard input was given more than once; give the other texts as files")
    for path in paths:
        if not is_stream(path):
            next(read_blocks(path), None)


def _watch(held_out: HeldOut | None, overlaps: Sequence[Overlap], config: Config) -> Callable[[int, Pair], None]:
    """What is done with each pair of a corpus: it is kept if it is held out, and looked for in the other sets."""
    form: Form = "NFKC" if config.tokenizer.normalisation == "nfkc" else "NFC"

    def watch(line: int, pair: Pair) -> None:
        if held_out is None and not overlaps:
            return
        keys = folded_keys(pair, form)
        if held_out is not None:
            held_out.add(line, keys)
        for overlap in overlaps:
            overlap.meet(line, pair, keys)

    return watch


def _facts(config: Config, tokenizers: Sequence[Tokenizer], sample: int, pairs: int) -> TokenizerFacts:
    return TokenizerFacts(
        kind=config.tokenizer.kind,
        normalisation=config.tokenizer.normalisation,
        sizes=tuple(len(tokenizer) for tokenizer in tokenizers[: 1 if config.tokenizer.shared else 2]),
        learned_from=sample,
        size_for_all=None if config.tokenizer.size else default_vocabulary(pairs),
    )
