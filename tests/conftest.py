import signal
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("house", deadline=None, print_blob=True, derandomize=True)
hypothesis.settings.load_profile("house")
signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts tests in the background ignores Ctrl-C for all


@pytest.fixture(autouse=True)
def _fixed_seed() -> None:
    torch.manual_seed(1)


@pytest.fixture(params=["oneDNN", "MKL"] if torch.backends.mkldnn.is_available() else ["MKL"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What multiplies fp32 matrices while training: the test runs with each, whatever is faster here and large."""
    monkeypatch.setattr("headway.nn.linear.is_onednn_faster", lambda: request.param == "oneDNN")
    monkeypatch.setattr("headway.nn.linear.LARGE", 1)
    return request.param


@pytest.fixture
def workers() -> Callable[[], list[int]]:
    """Gives the processes of ours that this one has started and that still run; Linux only."""

    def find() -> list[int]:
        pids = [pid for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]
        return [int(pid) for pid in pids if b"headway." in Path(f"/proc/{pid}/cmdline").read_bytes()]

    return find
