import io
import signal
import sys

import pytest

from headway.cli.whole_lines import whole_lines


class InterruptedPipe(io.BytesIO):
    """Takes a line in two halves; Ctrl-C is pressed between them, as often as it is told."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def write(self, line: bytes) -> int:
        super().write(line[: len(line) // 2])
        for _ in range(self.times):
            signal.raise_signal(signal.SIGINT)
        return super().write(line[len(line) // 2 :])


@pytest.mark.parametrize(("times", "written"), [(1, "un été\n".encode()), (2, "un été\n".encode()[:4])])
def test_ctrl_c_waits_for_the_end_of_a_line_but_not_twice(
    times: int, written: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = InterruptedPipe(times)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe))
    before = signal.getsignal(signal.SIGINT)
    with whole_lines() as write:
        with pytest.raises(KeyboardInterrupt):
            write("un été")
        assert pipe.getvalue() == written
    assert signal.getsignal(signal.SIGINT) is before
