"""A process that encodes: texts come in on standard input, ids go out on standard output.

It ends when its input does, so that it never outlives the process that started it, however that one ends.
"""

import json
import signal
import struct
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import IO

import numpy as np

from headway.text.tokenizer import Joined, Tokenizer

_SIZE = struct.Struct("<Q")


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a message."""
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)


def receive(stream: IO[bytes]) -> bytes:
    """Read a message; raises EOFError if there is none, or only a part."""
    size = stream.read(_SIZE.size)
    data = stream.read(_SIZE.unpack(size)[0]) if len(size) == _SIZE.size else b""
    if len(size) < _SIZE.size or len(data) < _SIZE.unpack(size)[0]:
        raise EOFError
    return data


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


def main() -> None:
    """Take the two tokenizers, then texts of both sides again and again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    source, target = sys.stdin.buffer, sys.stdout.buffer
    tokenizers = [Tokenizer.from_json(text) for text in json.loads(receive(source))]
    while True:
        try:
            sides = [receive_texts(source) for _ in tokenizers]
        except EOFError:
            return
        for tokenizer, texts in zip(tokenizers, sides, strict=True):
            send_joined(target, tokenizer.encode_joined(texts))
        target.flush()


if __name__ == "__main__":
    main()
