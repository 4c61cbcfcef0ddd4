"""A process that encodes: texts come in on standard input, ids go out on standard output."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import IO

import numpy as np

from headway.processes import Talk, receive, send, serve
from headway.text.tokenizer import Joined, Tokenizer


def send_texts(stream: IO[bytes], texts: Sequence[str]) -> None:
    """Write texts: their lengths, then all of them as one, which is far faster than JSON."""
    send(stream, np.fromiter(map(len, texts), np.int64, len(texts)).tobytes())
    send(stream, "".join(texts).encode())


def receive_texts(stream: IO[bytes]) -> list[str]:
    """The inverse of `send_texts`."""
    ends = np.cumsum(np.frombuffer(receive(stream), dtype=np.int64)).tolist()
    text = receive(stream).decode()
    return [text[start:end] for start, end in pairwise([0, *ends])]


def send_joined(stream: IO[bytes], joined: Joined) -> None:
    """Write ids and lengths."""
    send(stream, joined.lengths.tobytes())
    send(stream, joined.ids.dtype.str.encode())
    send(stream, joined.ids.tobytes())


def receive_joined(stream: IO[bytes]) -> Joined:
    """The inverse of `send_joined`."""
    lengths = np.frombuffer(receive(stream), dtype=np.int64)
    dtype = receive(stream).decode()
    return Joined(np.frombuffer(receive(stream), dtype=dtype), lengths)


def begin(order: bytes) -> Talk:
    """Take the two tokenizers."""
    tokenizers = [Tokenizer.from_json(text) for text in json.loads(order)]

    def encode(source: IO[bytes], target: IO[bytes]) -> None:
        sides = [receive_texts(source) for _ in tokenizers]
        for tokenizer, texts in zip(tokenizers, sides, strict=True):
            send_joined(target, tokenizer.encode_joined(texts))

    return encode


if __name__ == "__main__":
    serve(begin)
