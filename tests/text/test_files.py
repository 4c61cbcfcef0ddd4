import gzip
import hashlib
import io
import os
import random
import socket
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from headway.errors import UserError
from headway.text import files
from headway.text.files import hash_file, is_stream, read_lines, read_records, text_suffix

COMPRESS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](data))
    return path


@contextmanager
def endless_pipe(path: Path, text: bytes, opening: bytes = b"") -> Iterator[None]:
    """A pipe that repeats itself until nobody listens."""

    def write_on() -> None:
        with suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
            pipe.write(opening)
            while True:
                pipe.write(text)

    os.mkfifo(path)
    writer = threading.Thread(target=write_on)
    writer.start()
    yield
    writer.join()


def error_of(path: str | Path) -> str:
    with pytest.raises(UserError) as raised:
        list(read_lines(path))
    return str(raised.value)


@pytest.mark.parametrize("suffix", COMPRESS)
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n"]), is_closed=st.booleans(), block=st.integers(1, 20))
@example(lines=["a\u2028b\x85c\x0cd\x0be\x1cf", "", "\x00\x01", "\ufefflater", ""], end="\n", is_closed=True, block=20)
def test_lines_survive(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, lines: list[str], end: str, is_closed: bool, block: int
) -> None:
    if end == "\n":
        lines = [line.rstrip("\r") for line in lines]
    if lines and lines[0].startswith("\ufeff"):
        lines[0] = f"\ufeff{lines[0]}"  # the first is the mark, the second is text
    text = end.join(lines) + (end if is_closed and lines else "")
    path = write(tmp_path_factory.mktemp("files") / f"text{suffix}", text.encode())
    if lines and not is_closed and lines[-1] == "":
        lines.pop()  # nothing, and not even a line end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", block)  # lines and characters are cut anywhere
        patch.setattr(files, "ZSTD_BLOCK_BYTES", block)
        read = list(read_lines(path))
    if lines and lines[0].startswith("\ufeff"):
        lines[0] = lines[0][1:]
    assert read == lines


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"a\r\nb\rc\r\r\nd\r", ["a", "b\rc\r", "d\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        (b"\xef\xbb\xbf\n", [""]),
        (b"\x00\n\x1a\n", ["\x00", "\x1a"]),
    ],
)
def test_what_is_a_line(tmp_path: Path, data: bytes, lines: list[str]) -> None:
    for suffix in COMPRESS:
        assert list(read_lines(write(tmp_path / f"text{suffix}", data))) == lines


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\r\nb")))
    assert list(read_lines("-")) == ["a", "b"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff")))
    assert error_of("-").startswith("standard input, line 2: invalid UTF-8: byte 0xFF at offset 2;")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a"))))
    assert error_of("-") == "standard input holds gzip data, expected plain text; pipe it through gzip -dc"


def test_members_and_frames_are_joined(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    for suffix, junk in ((".gz", b""), (".zst", skippable)):
        compress = COMPRESS[suffix]
        path = tmp_path / f"text{suffix}"
        path.write_bytes(junk + compress(b"a\nb") + junk + compress(b"") + compress(b"c\n") + junk)
        assert list(read_lines(path)) == ["a", "bc"]


def test_a_missing_file_and_one_with_a_name_like_it(tmp_path: Path) -> None:
    missing = tmp_path / "train.de"
    assert error_of(missing) == f"no such file: {missing}"
    (tmp_path / "train.de.gz").touch()
    assert error_of(missing) == f"no such file: {missing}; did you mean {missing}.gz?"
    assert error_of(tmp_path / "no" / "train.de") == f"no such file: {tmp_path}/no/train.de"


def test_a_directory(tmp_path: Path) -> None:
    assert error_of(tmp_path) == f"{tmp_path} is a directory; expected a text file"


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "train.de", b"a\n")

    def deny(*_: object) -> None:  # what the system does, unless tests run as root
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "open", deny, raising=False)
    assert error_of(path) == f"no permission to read {path}; allow it, as with chmod u+r {path}"


def test_what_cannot_be_opened_for_another_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the names of sockets are short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("a-socket")
        assert error_of("a-socket") == "cannot read a-socket: No such device or address"
    write(tmp_path / "file", b"")
    assert error_of("file/train.de") == "cannot read file/train.de: Not a directory"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_invalid_utf8_is_named_by_line_and_byte(tmp_path: Path, suffix: str) -> None:
    good = "é\r\n".encode() * 50_000
    path = write(tmp_path / f"train.de{suffix}", good + b"\nabc\xe9t\xe9\n")
    where = " of the decompressed text" if suffix else ""
    assert error_of(path) == (
        f"{path}, line 50,002: invalid UTF-8: byte 0xE9 at offset 200,004{where}; "
        "convert the text to UTF-8, as with iconv -f ISO-8859-1 -t UTF-8"
    )


@pytest.mark.parametrize("data", [b"a\n\xc3", b"\xed\xa0\x80\n", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\x80"])
def test_invalid_utf8_of_every_kind(tmp_path: Path, data: bytes) -> None:
    assert "invalid UTF-8: byte 0x" in error_of(write(tmp_path / "train.de", data))


def test_utf16_is_recognised(tmp_path: Path) -> None:
    path = write(tmp_path / "train.de", "hello\n".encode("utf-16"))
    assert "line 1: invalid UTF-8: byte 0xFF at offset 0; " in error_of(path)
    assert error_of(path).endswith("iconv -f UTF-16 -t UTF-8")


@pytest.mark.parametrize(("suffix", "compression"), [(".gz", "gzip"), (".zst", "zstd")])
def test_compressed_files_that_are_broken(tmp_path: Path, suffix: str, compression: str) -> None:
    path = tmp_path / f"train.de{suffix}"
    whole = COMPRESS[suffix](os.urandom(500).hex().encode() + b"\n")
    for length in range(5, len(whole)):
        path.write_bytes(whole[:length])
        assert error_of(path) == f"{path} is cut off: its {compression} data ends too early; copy it again"
    path.write_bytes(whole + b"junk")
    assert error_of(path).startswith(f"{path} is damaged: its {compression} data cannot be read (")
    path.write_bytes(b"plain text\n")
    assert error_of(path) == (
        f"{path} is not {compression} data, as its name says; rename it to train.de if it is plain text"
    )
    plain = tmp_path / "plain"
    plain.write_bytes(whole)
    assert error_of(plain) == f"{plain} holds {compression} data, expected plain text; name it plain{suffix}"


@pytest.mark.parametrize(
    "compress", [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress], ids=["gz", "zst"]
)
@given(data=st.data())
def test_damage_is_found_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, compress: Callable[[bytes], bytes], data: st.DataObject
) -> None:
    lines = ["the cat sleeps", "the dog barks"] * 3
    whole = bytearray(compress("\n".join(lines).encode()))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("files") / ("text.gz" if compress is gzip.compress else "text.zst")
    path.write_bytes(whole)
    with suppress(UserError):
        assert list(read_lines(path)) == lines


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE_BYTES", 1 << 20)
    for suffix in COMPRESS:
        path = write(tmp_path / f"long{suffix}", b"short\n" + bytes(1 << 22))
        assert error_of(path) == f"{path}, line 2 is longer than 1 MiB; expected text, one sentence a line"


def test_only_the_last_record_may_be_blank(tmp_path: Path) -> None:
    assert list(read_records(write(tmp_path / "a", b"x\n y\n \t\n"))) == [(1, "x"), (2, " y")]
    for data, number in ((b"\nx\n", 1), (b"x\n\n\n", 2)):
        with pytest.raises(UserError, match=rf"a, line {number} is blank; remove it"):
            list(read_records(write(tmp_path / "a", data)))


def test_the_suffix_that_names_the_format() -> None:
    names = ["a.tsv", "a.b.TSV.GZ", "a.tsv.zst", "a", "a.gz", ".tsv"]
    assert [text_suffix(Path(name)) for name in names] == [".tsv", ".tsv", ".tsv", "", "", ""]


def test_a_file_is_hashed_as_it_is_on_disk(tmp_path: Path) -> None:
    for suffix in COMPRESS:
        path = write(tmp_path / f"text{suffix}", b"a\n")
        assert hash_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(UserError, match=r"no such file: .*txt; did you mean .*text\?"):
        hash_file(tmp_path / "txt")
    with pytest.raises(UserError, match="is a directory; expected a text file"):
        hash_file(tmp_path)


def test_what_can_be_read_only_once_is_not_hashed(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(writing)  # so that reading it by mistake ends at once
    pipe = Path(f"/dev/fd/{reading}")
    for path, name in ((pipe, str(pipe)), (Path("-"), "standard input")):
        assert is_stream(path)
        with pytest.raises(UserError) as raised:
            hash_file(path)
        expected = "can be read only once, but a corpus to train on is read several times; give a file"
        assert str(raised.value) == f"{name} {expected}"
    os.close(reading)
    assert not is_stream(tmp_path)
    assert not is_stream(tmp_path / "absent")
    assert not is_stream(write(tmp_path / "text", b""))


def test_an_endless_stream_is_read_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    with endless_pipe(path, b"hello\n"):
        assert list(islice(read_lines(path), 1000)) == ["hello"] * 1000


def test_a_line_is_given_before_the_next_is_written(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    is_read = threading.Event()

    def write_slowly() -> None:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(b"first\n")
            is_read.wait()
            pipe.write(b"second\n")

    writer = threading.Thread(target=write_slowly)
    writer.start()
    lines = read_lines(path)
    assert next(lines) == "first"
    is_read.set()
    assert list(lines) == ["second"]
    writer.join()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, suffix: str) -> None:
    peaks = []
    sentences = [random.Random(1).randbytes(20).hex() for _ in range(1000)]
    for count in (50_000, 500_000):
        text = "".join(f"{number} {sentences[number % 1000]}\n" for number in range(count))
        path = write(tmp_path / f"{count}{suffix}", text.encode())
        tracemalloc.start()
        assert sum(1 for _ in read_lines(path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000
