"""Processes give what one process gives, in order, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headway.data import encoding
from headway.data.encoding import encode_pairs
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.learn import learn_tokenizer

PAIRS = [Pair(f"the {n} tired animals\n", f"les {n * n} animaux  fatigués {chr(0x4E00 + n)}") for n in range(300)]
TOKENIZERS = (
    learn_tokenizer((pair.source for pair in PAIRS), "bpe", 400),
    learn_tokenizer((pair.target for pair in PAIRS), "byte-level", 400),
)


@pytest.fixture
def in_small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "CHUNK", 7)
    monkeypatch.setattr(encoding, "ALONE", 2)


def encoded(processes: int) -> list[list[tuple[list[int], list[int]]]]:
    chunks = encode_pairs(PAIRS, TOKENIZERS, processes)
    return [[(side.ids.tolist(), side.lengths.tolist()) for side in sides] for sides in chunks]


@pytest.mark.usefixtures("in_small_chunks")
def test_processes_change_nothing() -> None:
    alone = encoded(1)
    assert encoded(3) == alone
    assert len(alone) == 43
    for side, tokenizer in enumerate(TOKENIZERS):
        ids = np.concatenate([chunk[side][0] for chunk in alone]).tolist()
        assert ids == [i for pair in PAIRS for i in tokenizer.encode(pair[side])]


@pytest.mark.usefixtures("in_small_chunks")
def test_closing_early_ends_the_processes(workers: Callable[[], list[int]]) -> None:
    chunks = encode_pairs(PAIRS, TOKENIZERS, 2)
    for _ in range(4):
        next(chunks)
    assert len(workers()) == 2
    chunks.close()
    assert workers() == []


@pytest.mark.usefixtures("in_small_chunks")
def test_a_process_that_is_killed_is_reported(workers: Callable[[], list[int]]) -> None:
    chunks = encode_pairs(PAIRS, TOKENIZERS, 1 + 1)
    for _ in range(3):
        next(chunks)
    for child in workers():
        os.kill(child, signal.SIGKILL)
    with pytest.raises(UserError, match="a process that encodes text has ended with code -9"):
        list(chunks)


def test_a_process_whose_parent_is_killed_ends_too(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(
        "from itertools import repeat\n"
        "from headway.data.encoding import encode_pairs\n"
        "from headway.text.learn import learn_tokenizer\n"
        "from headway.text.corpus import Pair\n"
        "tokenizer = learn_tokenizer([], 'bpe', 300)\n"
        "for n, _ in enumerate(encode_pairs(repeat(Pair('a', 'b')), (tokenizer, tokenizer), 2)):\n"
        "    if n == 6:\n"
        "        print('running', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "running\n"
        workers = children(parent.pid)
        parent.kill()
    assert len(workers) == 2
    for _ in range(500):
        if not any(map(is_alive, workers)):
            break
        time.sleep(0.02)
    assert not any(map(is_alive, workers))


def children(parent: int | None = None) -> list[int]:
    tasks = Path(f"/proc/{parent or os.getpid()}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def is_alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
