"""Pairs of texts -> their token ids, chunk by chunk, in order; a large corpus on all cores.

Looking up words holds Python's lock, so that cores are kept busy by processes, not by threads. A corpus of a few chunks
is encoded here: processes take a moment to start.
"""

import json
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from typing import IO

from headway.data.encoding_worker import receive_joined, send_texts
from headway.processes import Worker, share_out, usable_cores
from headway.text.corpus import Pair
from headway.text.tokenizer import Joined, Tokenizer

CHUNK = 10_000
"""Pairs that are encoded at once."""
ALONE = 4
"""Chunks for which no processes are started."""
MOST_PROCESSES = 4
"""More would wait for this process, which reads and writes."""

Tokenizers = tuple[Tokenizer, Tokenizer]
Texts = list[tuple[str, ...]]
Sides = list[Joined]


def encode_pairs(
    pairs: Iterable[Pair], tokenizers: Tokenizers, processes: int | None = None
) -> Generator[Sides, None, None]:
    """The ids of the two sides of each chunk, by as many processes as there are cores; 1 is this one alone."""
    count = min(usable_cores(), MOST_PROCESSES) if processes is None else processes
    chunks = _chunks(pairs)
    ahead = list(islice(chunks, ALONE + 1)) if count > 1 else []
    if len(ahead) > ALONE:
        yield from _encode_in_processes(chain(ahead, chunks), tokenizers, count)
    else:
        for texts in chain(ahead, chunks):
            yield [tokenizer.encode_joined(side) for tokenizer, side in zip(tokenizers, texts, strict=True)]


def _chunks(pairs: Iterable[Pair]) -> Iterator[Texts]:
    """The texts of the two sides of as many pairs as are encoded at once."""
    remaining = iter(pairs)
    while chunk := list(islice(remaining, CHUNK)):
        yield list(zip(*chunk, strict=True))


def _encode_in_processes(chunks: Iterable[Texts], tokenizers: Tokenizers, count: int) -> Iterator[Sides]:
    order = json.dumps([tokenizer.to_json() for tokenizer in tokenizers]).encode()
    return share_out(chunks, count, lambda: Worker("headway.data.encoding_worker", order, "encodes text"), _ask)


def _ask(worker: Worker, texts: Texts) -> Sides:
    """The ids of both sides."""

    def write(stream: IO[bytes]) -> None:
        for side in texts:
            send_texts(stream, side)

    return worker.ask(write, lambda stream: [receive_joined(stream) for _ in texts])
