"""One long array on disk as several files of bounded size, which copying tools and file systems like better."""

import os
from pathlib import Path

SHARD_BYTES = 1 << 30


def shard_path(directory: Path, name: str, number: int) -> Path:
    """Where a shard lies."""
    return directory / f"{name}-{number:05}"


class ShardWriter:
    """Appends bytes; each file but the last has exactly `shard_bytes`."""

    def __init__(self, directory: Path, name: str, shard_bytes: int) -> None:
        self._directory = directory
        self._name = name
        self._shard_bytes = shard_bytes
        self._count = 0
        self._open_next()

    def write(self, data: bytes) -> None:
        """Append bytes, going on in a new file when one is full."""
        rest = memoryview(data)
        while rest:
            if not self._free:
                self._file.close()
                self._open_next()
            now, rest = rest[: self._free], rest[self._free :]
            self._file.write(now)
            self._free -= len(now)

    def close(self) -> None:
        """Close the last file."""
        self._file.close()

    def _open_next(self) -> None:
        self._file = shard_path(self._directory, self._name, self._count).open("wb")
        self._count += 1
        self._free = self._shard_bytes


class ShardReader:
    """Reads bytes by their place in the whole."""

    def __init__(self, directory: Path, name: str, shard_bytes: int) -> None:
        self._shard_bytes = shard_bytes
        self._files: list[int] = []
        while (path := shard_path(directory, name, len(self._files))).exists():
            self._files.append(os.open(path, os.O_RDONLY))

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`."""
        shard, place = divmod(start, self._shard_bytes)
        data = os.pread(self._files[shard], end - start, place)
        missing = end - start - len(data)  # what stands in the next file
        return data if not missing else data + self.read(end - missing, end)

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            os.close(file)
        self._files = []
