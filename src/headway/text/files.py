r"""A text file, plain, `.gz` or `.zst`, or standard input -> its lines, in memory that does not grow with the file.

A line ends at "\n" and nowhere else: other characters that Unicode calls line ends are part of a line, or else two
files with the same number of lines would not align. Whatever is wrong with a file is a `UserError` with its name.
"""

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from headway.errors import UserError, nearest

BLOCK_BYTES = 1 << 16
"""Read at once: large enough that lines are split in bulk, small enough to stay in the processor's cache."""
ZSTD_BLOCK_BYTES = 1 << 11
"""Compressed bytes read at once. Four bytes of zstd can stand for 128 KiB, so that this bounds memory by 64 MiB."""
LONGEST_LINE_BYTES = 1 << 26
"""A line that goes on for longer is no sentence, and would be held in memory."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def read_lines(path: str | Path) -> Iterator[str]:
    r"""The lines of a UTF-8 file, or of standard input for `-`, without their "\n" or "\r\n".

    A byte order mark at the start is dropped. A last line counts with or without its line end.
    """
    path = Path(path)
    line, offset = 1, 0  # of the first byte that has not been decoded
    held: list[bytes] = []  # the beginning of a line whose end has not been read
    held_bytes = 0
    for block in read_blocks(path):
        end = block.rfind(b"\n") + 1
        if end:
            held.append(block[:end])
            data = b"".join(held)
            held, held_bytes = [], 0
            lines = _decode_lines(path, data, line, offset)
            yield from lines
            line += len(lines)
            offset += len(data)
        if end < len(block):
            held.append(block[end:])
            held_bytes += len(held[-1])
        if held_bytes > LONGEST_LINE_BYTES:
            raise UserError(
                f"{place(path, line)} is longer than {LONGEST_LINE_BYTES >> 20} MiB; expected text, one sentence a line"
            )
    if held:
        yield from _decode_lines(path, b"".join(held), line, offset)


def read_records(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, for formats in which a blank line means nothing: only the last may be blank."""
    blank = 0
    for number, line in enumerate(read_lines(path), start=1):
        if blank:
            raise UserError(f"{place(path, blank)} is blank; remove it")
        if line.strip(" \t\r"):
            yield number, line
        else:
            blank = number


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """The bytes of a file, decompressed as its suffix says, in blocks."""
    path = Path(path)
    compression = COMPRESSIONS.get(path.suffix.lower())
    try:
        if is_stdin(path):
            yield from _plain_blocks(path, sys.stdin.buffer)
            return
        with open(path, "rb") as file:
            match compression:
                case "gzip":
                    yield from _gzip_blocks(path, file)
                case "zstd":
                    yield from _zstd_blocks(path, file)
                case _:
                    yield from _plain_blocks(path, file)
    except EOFError:
        raise UserError(f"{path} is cut off: its {compression} data ends too early; copy it again") from None
    except (gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise UserError(f"{path} is damaged: its {compression} data cannot be read ({error}); copy it again") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def hash_file(path: str | Path) -> str:
    """The sha256 of a file's bytes as they are on disk, the same that sha256sum prints."""
    path = Path(path)
    if is_stream(path):
        raise UserError(
            f"{display_name(path)} can be read only once, but a corpus to train on is read several times; give a file"
        )
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def place(path: str | Path, line: int, column: int | None = None) -> str:
    """Where in a file, as messages say it."""
    return f"{display_name(path)}, line {line:,}" + (f", column {column:,}" if column is not None else "")


def display_name(path: str | Path) -> str:
    """What messages call a file."""
    return "standard input" if is_stdin(path) else str(path)


def is_stdin(path: str | Path) -> bool:
    """Whether `path` is the `-` that stands for standard input."""
    return str(path) == "-"


def is_stream(path: str | Path) -> bool:
    """Whether what stands behind `path` can be read only once: standard input, or a pipe."""
    return is_stdin(path) or (os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)))


def text_suffix(path: Path) -> str:
    """The suffix that names the format: `.tsv` for train.tsv and for train.tsv.gz."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return inner.suffix.lower()


def empty_file(path: str | Path) -> UserError:
    """The error for a file without a single line, where a corpus was expected."""
    return UserError(f"{display_name(path)} is empty; expected at least one line")


def _decode_lines(path: Path, data: bytes, line: int, offset: int) -> list[str]:
    """The lines in `data`, which begins at `line` and `offset` of the file and ends at a line's or the file's end."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        utf16 = offset == 0 and data[:2] in (b"\xff\xfe", b"\xfe\xff")
        raise UserError(
            f"{place(path, line)}: invalid UTF-8: byte 0x{data[error.start]:02X} at offset {offset + error.start:,}"
            f"{' of the decompressed text' if path.suffix.lower() in COMPRESSIONS else ''}; convert the text to UTF-8, "
            f"as with iconv -f {'UTF-16' if utf16 else 'ISO-8859-1'} -t UTF-8"
        ) from None
    if offset == 0:
        text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:  # what stands behind the last line end is no line
        lines.pop()
    return lines


def _plain_blocks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    # read1 gives what is there, so that lines typed or piped in are answered as they come.
    file = cast(BufferedReader, file)
    block = file.read1(BLOCK_BYTES)
    for magic, suffix in ((GZIP_MAGIC, ".gz"), (ZSTD_MAGIC, ".zst")):
        if block.startswith(magic):
            compression = COMPRESSIONS[suffix]
            remedy = f"pipe it through {compression} -dc" if is_stdin(path) else f"name it {path.name}{suffix}"
            raise UserError(f"{display_name(path)} holds {compression} data, expected plain text; {remedy}")
    while block:
        yield block
        block = file.read1(BLOCK_BYTES)


def _gzip_blocks(path: Path, file: BufferedReader) -> Iterator[bytes]:
    if not GZIP_MAGIC.startswith(file.peek(2)[:2]):
        raise _misnamed(path)
    with gzip.GzipFile(fileobj=file) as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block


def _zstd_blocks(path: Path, file: BufferedReader) -> Iterator[bytes]:
    # Not stream_reader: it takes a file that was cut off for one that ends.
    head = file.peek(4)[:4]
    skippable = head[1:] == b"\x2a\x4d\x18"  # a frame of somebody's own data may stand first
    if not (ZSTD_MAGIC.startswith(head) or skippable):
        raise _misnamed(path)
    decompressor = zstandard.ZstdDecompressor()
    frame = None
    while piece := file.read(ZSTD_BLOCK_BYTES):
        while piece:
            frame = frame or decompressor.decompressobj()
            data = frame.decompress(piece)
            for start in range(0, len(data), BLOCK_BYTES):
                yield data[start : start + BLOCK_BYTES]
            piece = frame.unused_data
            if frame.eof:
                frame = None
    if frame is not None:
        raise EOFError


def _misnamed(path: Path) -> UserError:
    compression = COMPRESSIONS[path.suffix.lower()]
    return UserError(
        f"{path} is not {compression} data, as its name says; rename it to {path.stem} if it is plain text"
    )


def _unreadable(path: Path, error: OSError) -> UserError:
    if isinstance(error, FileNotFoundError):
        near = nearest(path.name, os.listdir(path.parent) if os.access(path.parent, os.R_OK) else [])
        return UserError(f"no such file: {path}" + (f"; did you mean {path.parent / near}?" if near else ""))
    if os.path.isdir(path):  # Path.is_dir would raise for what may not be looked at
        return UserError(f"{path} is a directory; expected a text file")
    if isinstance(error, PermissionError):
        return UserError(f"no permission to read {path}; allow it, as with chmod u+r {path}")
    return UserError(f"cannot read {display_name(path)}: {error.strerror or error}")
