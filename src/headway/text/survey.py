"""The pairs of one corpus, read once -> its numbers and findings.

Of a pair stay 16 bytes, two hashes by which repeats are found at the end.
"""

import heapq
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from headway.config import Config
from headway.text.corpus import AlignedFiles, Corpus, Pair, TmxFile
from headway.text.findings import EXAMPLES, CorpusHealth, Example, Finding, SideHealth, example, judge
from headway.text.lengths import FAR_TOKENS, LONGEST, Integers, histogram, is_far, quantile, typical_ratio, weigh
from headway.text.named import NamedSplit
from headway.text.scripts import ODD, WITHOUT_SPACES, fits_script, odd_characters, script_of
from headway.text.specials import SPECIAL_TOKENS
from headway.text.tokenizer import Tokenizer

CHUNK_PAIRS, CHUNK_CHARACTERS = 10_000, 5_000_000
"""Encoded at once."""
BEFORE_ODD = 20
"""Characters shown before an odd one."""
EXTREMES = 16
"""Kept of each direction, before it is known which lengths are usual."""
SPELLS_IN_BYTES = ("bpe", "unigram", "character", "word")
"""Kinds for which a byte is the last resort; the pieces of the others are made of bytes."""
FIRST_BYTE = len(SPECIAL_TOKENS)


class SideTally:
    """Counts one side, line by line, and its tokens, chunk by chunk."""

    def __init__(self, side: str, tokenizer: Tokenizer, spells_in_bytes: bool) -> None:
        self.side, self.tokenizer, self.spells_in_bytes = side, tokenizer, spells_in_bytes
        self.characters = self.words = self.tokens = self.byte_tokens = self.longest = self.odd_lines = 0
        self.scripts: Counter[str] = Counter()
        self.odd: Counter[str] = Counter()
        self.spelled: Counter[str] = Counter()
        self.odd_examples: list[Example] = []
        self._script_examples: dict[str, list[Example]] = {}

    def add(self, line: int, text: str) -> None:
        """Look at the characters of a line."""
        self.characters += len(text if text.isascii() else self.tokenizer.normalise(text))
        self.words += len(text.split())
        if script := script_of(text):
            self.scripts[script] += 1
            if self.scripts[script] <= EXAMPLES:
                shown = example(line, [text], f"{self.side}, {script}")
                self._script_examples.setdefault(script, []).append(shown)
        if first := ODD.search(text):
            odd = odd_characters(text)
            self.odd += odd
            self.odd_lines += 1
            if len(self.odd_examples) < EXAMPLES:
                near = text[max(first.start() - BEFORE_ODD, 0) :]
                self.odd_examples.append(example(line, [near], f"{self.side}, {', '.join(odd)}"))

    def add_tokens(self, sentences: list[list[int]]) -> Integers:
        """Count the tokens of a chunk; gives the lengths of its lines."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        self.tokens += int(lengths.sum())
        self.longest = max(self.longest, int(lengths.max(initial=0)))
        if self.spells_in_bytes:
            ids = np.fromiter(chain.from_iterable(sentences), dtype=np.int64) - FIRST_BYTE
            values = ids[(ids >= 0) & (ids < 256)].astype(np.uint8)
            self.byte_tokens += len(values)
            self.spelled.update(values.tobytes().decode("utf-8", "replace"))
        return lengths

    @property
    def script(self) -> str | None:
        """The script of most lines."""
        return max(self.scripts, key=self.scripts.__getitem__, default=None)

    def wrong_script(self) -> tuple[int, list[Example]]:
        """Lines in other scripts than most; the rarest scripts are the best examples."""
        wrong = [script for script in self.scripts if not fits_script(script, self.script)]
        found = [self._script_examples[script] for script in sorted(wrong, key=self.scripts.__getitem__)]
        return sum(self.scripts[script] for script in wrong), list(islice(chain.from_iterable(found), EXAMPLES))

    def health(self, lengths: Counter[int]) -> SideHealth:
        """The numbers of the side whose lines have these lengths."""
        spelled, spells, tokens = self.spelled, self.spells_in_bytes, self.tokens
        return SideHealth(
            tokens=tokens,
            characters=self.characters,
            words=self.words,
            median_length=int(quantile(lengths, 0.5)),
            p99_length=int(quantile(lengths, 0.99)),
            longest=self.longest,
            tokens_per_word=_divide(tokens, self.words) if self.script not in WITHOUT_SPACES else None,
            characters_per_token=_divide(self.characters, tokens),
            byte_token_share=_divide(self.byte_tokens, tokens) if spells else None,
            byte_character_share=_divide(spelled.total(), self.characters) if spells else None,
            spelled=dict(spelled.most_common(10)),
            script=self.script,
            scripts=dict(self.scripts.most_common()),
            odd_characters=dict(self.odd),
        )


class Survey:
    """Counts the pairs of a corpus; `watch` is called with every pair and its number."""

    def __init__(self, config: Config, tokenizers: Iterable[Tokenizer], watch: Callable[[int, Pair], None]) -> None:
        self.rules, self.watch = config.data, watch
        spells = config.tokenizer.kind in SPELLS_IN_BYTES
        names = ("source", "target")
        self.sides = [SideTally(name, one, spells) for name, one in zip(names, tokenizers, strict=True)]
        self.pairs = 0
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[Example]] = {}
        self.cells: Counter[int] = Counter()  # pairs by both lengths, as one number
        self.extremes: dict[bool, list[tuple[float, int, int, int, Example]]] = {True: [], False: []}
        self.hashes = array("Q"), array("Q")  # of sources, of pairs
        self.sample: list[Pair] = []

    def read(self, pairs: Iterator[Pair], sample: list[Pair], on_progress: Callable[[int], None]) -> None:
        """Count the `sample` and then the rest of the corpus; the sample stays, for examples."""
        self.sample = sample
        everything = chain(sample, pairs)
        while chunk := take(everything, CHUNK_PAIRS, CHUNK_CHARACTERS):
            for line, pair in enumerate(chunk, start=self.pairs + 1):
                self._add(line, pair)
            self._add_lengths(chunk)
            self.pairs += len(chunk)
            on_progress(self.pairs)

    def result(self, corpus: Corpus, more: Iterable[Finding] = ()) -> CorpusHealth:
        """All about the corpus that was read."""
        cells = np.fromiter(self.cells, dtype=np.int64)
        times = np.fromiter(self.cells.values(), dtype=np.int64)
        lengths = cells // (LONGEST + 1), cells % (LONGEST + 1)
        ratio = typical_ratio(*lengths, times)
        by_side = [weigh(side, times) for side in lengths]
        return CorpusHealth(
            name=str(corpus),
            unit=unit_of(corpus),
            pairs=self.pairs,
            skipped=corpus.skipped,
            source=self.sides[0].health(by_side[0]),
            target=self.sides[1].health(by_side[1]),
            typical_ratio=ratio,
            lengths=histogram(*by_side),
            findings=(*self._findings(lengths, times, ratio), *more),
        )

    def _add(self, line: int, pair: Pair) -> None:
        source, target = pair
        for tally, text in zip(self.sides, pair, strict=True):
            tally.add(line, text)
        one, other = source.strip(), target.strip()
        if not (one and other):
            sides = [tally.side for tally, text in zip(self.sides, (one, other), strict=True) if not text]
            self._found("empty", line, pair, " and ".join(sides) + (", white space only" if source and target else ""))
        elif one == other:
            self._found("identical", line, (one,))
        key = source.encode()
        self.hashes[0].append(hash_bytes(key))
        self.hashes[1].append(hash_bytes(key + b"\xff" + target.encode()))
        self.watch(line, pair)

    def _found(self, name: str, line: int, texts: Iterable[str], note: str = "") -> None:
        self.counts[name] += 1
        if self.counts[name] <= EXAMPLES:
            self.examples.setdefault(name, []).append(example(line, texts, note))

    def _add_lengths(self, chunk: list[Pair]) -> None:
        """Encode a chunk and count its lengths, before its pairs are counted."""
        encoded = (tally.tokenizer.encode_batch([pair[n] for pair in chunk]) for n, tally in enumerate(self.sides))
        source, target = (tally.add_tokens(ids) for tally, ids in zip(self.sides, encoded, strict=True))
        shorter, longer = np.minimum(source, target), np.maximum(source, target)
        too_long = longer > self.rules.max_length
        left_out = {"too_long": too_long & (shorter > 0)}
        if self.rules.max_ratio is not None:
            left_out["over_max_ratio"] = ~too_long & (shorter > 0) & (longer > self.rules.max_ratio * shorter)
        for name, where in left_out.items():
            for n in np.flatnonzero(where).tolist():
                self._found(name, self.pairs + n + 1, chunk[n], _tokens(source[n], target[n]))
        clipped = np.minimum(source, LONGEST) * (LONGEST + 1) + np.minimum(target, LONGEST)
        self.cells.update(weigh(clipped, np.ones_like(clipped)))
        self._keep_extremes(source, target, chunk)

    def _keep_extremes(self, source: Integers, target: Integers, chunk: list[Pair]) -> None:
        """Keep the pairs with the longest targets for their sources, and with the shortest."""
        whole = np.flatnonzero(np.minimum(source, target))
        ratios = np.log((target[whole] + FAR_TOKENS) / (source[whole] + FAR_TOKENS))
        for is_longer, kept in self.extremes.items():
            scores = ratios if is_longer else -ratios
            for n in np.argsort(-scores, kind="stable")[:EXTREMES].tolist():
                place = int(whole[n])
                lengths = int(source[place]), int(target[place])
                line = self.pairs + place + 1
                shown = example(line, chunk[place], _tokens(*lengths))
                kept.append((float(scores[n]), -line, *lengths, shown))
            self.extremes[is_longer] = heapq.nlargest(EXTREMES, kept, key=lambda entry: entry[:2])

    def _findings(self, lengths: tuple[Integers, Integers], times: Integers, ratio: float | None) -> Iterator[Finding]:
        for name in ("empty", "too_long", "over_max_ratio"):
            if name != "over_max_ratio" or self.rules.max_ratio is not None:
                yield judge(name, self.counts[name], self.pairs, self.examples.get(name, ()))
        outliers = int(times[is_far(*lengths, ratio)].sum()) if ratio else 0
        yield judge("ratio_outliers", outliers, self.pairs, self._outlier_examples(ratio) if ratio else ())
        duplicates, several = self._repeats()
        yield duplicates
        yield several
        yield judge("identical", self.counts["identical"], self.pairs, self.examples.get("identical", ()))
        lines = 2 * self.pairs
        wrong = [tally.wrong_script() for tally in self.sides]
        yield judge("wrong_script", sum(count for count, _ in wrong), lines, _mixed([some for _, some in wrong]))
        odd = sum(tally.odd_lines for tally in self.sides)
        yield judge("odd_characters", odd, lines, _mixed([tally.odd_examples for tally in self.sides]))
        if self.sides[0].spells_in_bytes:
            spelled, characters = sum(t.spelled.total() for t in self.sides), sum(t.characters for t in self.sides)
            yield judge("spelled_in_bytes", spelled, characters)

    def _outlier_examples(self, ratio: float) -> list[Example]:
        """The kept pairs that are outliers indeed, the worst first."""
        kept = {entry[1]: entry for entries in self.extremes.values() for entry in entries}  # a line may be in both
        far = [entry for entry in kept.values() if is_far(entry[2], entry[3], ratio)]
        return [entry[-1] for entry in sorted(far, key=lambda entry: -abs(np.log(entry[3] / entry[2] / ratio)))]

    def _repeats(self) -> tuple[Finding, Finding]:
        """Pairs that were there before, and sources that have several targets."""
        sources, pairs = (np.frombuffer(hashes, dtype=np.uint64) for hashes in self.hashes)
        order = np.lexsort((pairs, sources))  # stable: of equal pairs, the first line comes first
        sources, pairs = sources[order], pairs[order]
        starts = np.flatnonzero(_is_new(sources) | _is_new(pairs))
        times = np.diff(np.append(starts, self.pairs))
        firsts = order[starts]
        of_source = np.flatnonzero(_is_new(sources[starts]))
        targets = np.diff(np.append(of_source, len(starts)))
        first_of_source = np.minimum.reduceat(firsts, of_source)
        return (
            judge("duplicates", self.pairs - len(starts), self.pairs, self._most(times, firsts, "times")),
            judge(
                "several_targets",
                int((targets > 1).sum()),
                self.pairs,
                self._most(targets, first_of_source, "targets", sides=1),
            ),
        )

    def _most(self, counts: Integers, places: Integers, unit: str, sides: int = 2) -> list[Example]:
        """The places with the highest counts above 1; their texts, if they are in the sample."""
        several = np.flatnonzero(counts > 1)
        best = several[np.lexsort((places[several], -counts[several]))[:EXAMPLES]]
        found = [(int(places[n]), int(counts[n])) for n in best]
        texts = [self.sample[place][:sides] if place < len(self.sample) else () for place, _ in found]
        return [
            example(place + 1, text, f"{count:,} {unit}") for (place, count), text in zip(found, texts, strict=True)
        ]


def take(pairs: Iterator[Pair], most: int, most_characters: int) -> list[Pair]:
    """The next pairs: at most so many, and not many more characters than that."""
    taken: list[Pair] = []
    characters = 0
    for pair in islice(pairs, most):
        taken.append(pair)
        characters += len(pair.source) + len(pair.target)
        if characters > most_characters:
            break
    return taken


def unit_of(corpus: Corpus) -> str:
    """What pair n is in its files: their line n, unless there are several files in turn, or none, or one of XML."""
    has_several = isinstance(corpus, AlignedFiles) and len(corpus.sources) > 1
    return "pair" if has_several or isinstance(corpus, TmxFile | NamedSplit) else "line"


def hash_bytes(data: bytes) -> int:
    """64 bits that two different texts share once in a lifetime."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _divide(count: int, of: int) -> float | None:
    """A quotient, if there is one."""
    return count / of if of else None


def _is_new(values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Where a value is not the one before it."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _mixed(sides: Sequence[list[Example]]) -> list[Example]:
    """Examples of both sides in turns, so that neither hides the other."""
    longest = max(map(len, sides))
    return [side[n] for n in range(longest) for side in sides if n < len(side)]


def _tokens(source: int, target: int) -> str:
    return f"{source:,} and {target:,} tokens"
