"""Messages between processes, and how many processes are useful."""

import io
import os
import subprocess
import sys

import pytest

from headway.processes import receive, send, usable_cores


def test_messages_come_as_they_went() -> None:
    stream = io.BytesIO()
    for message in (b"", b"abc", bytes(100_000)):
        send(stream, message)
    stream.seek(0)
    assert [receive(stream) for _ in range(3)] == [b"", b"abc", bytes(100_000)]
    with pytest.raises(EOFError):
        receive(stream)


def test_a_part_of_a_message_is_none() -> None:
    stream = io.BytesIO()
    send(stream, b"abc")
    whole = stream.getvalue()
    for size in range(len(whole)):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole[:size]))


def test_cores_that_a_process_may_not_use_do_not_count() -> None:
    one = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{one}]); from headway.processes import usable_cores as n; print(n())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"
    assert usable_cores() == len(os.sched_getaffinity(0))
