from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data.shards import ShardReader, ShardWriter


@given(st.lists(st.binary(max_size=30)), st.integers(1, 12), st.data())
def test_any_stretch_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], shard_bytes: int, data: st.DataObject
) -> None:
    directory: Path = tmp_path_factory.mktemp("shards")
    writer = ShardWriter(directory, "ids", shard_bytes)
    for piece in pieces:
        writer.write(piece)
    writer.close()
    whole = b"".join(pieces)
    start = data.draw(st.integers(0, max(len(whole) - 1, 0)))
    end = data.draw(st.integers(start, len(whole)))
    reader = ShardReader(directory, "ids", shard_bytes)
    assert reader.read(start, end) == whole[start:end]
    reader.close()
    assert all(path.stat().st_size <= shard_bytes for path in directory.iterdir())
