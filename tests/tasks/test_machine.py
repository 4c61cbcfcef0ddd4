from pathlib import Path

import pytest
import torch

from headway.tasks.machine import Memory, product_library, product_rate, read_memory

KIB = 1024


def write_meminfo(folder: Path) -> Path:
    path = folder / "meminfo"
    path.write_text("MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n")
    return path


def limit_container(folder: Path, limit: str, used: str) -> Path:
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    return folder


def test_memory_is_that_of_the_machine(tmp_path: Path) -> None:
    whole = Memory(1000 * KIB, 600 * KIB)
    assert read_memory(write_meminfo(tmp_path), tmp_path / "absent") == whole
    assert read_memory(write_meminfo(tmp_path), limit_container(tmp_path, "max", "5")) == whole


def test_a_container_may_have_less(tmp_path: Path) -> None:
    meminfo = write_meminfo(tmp_path)
    small = limit_container(tmp_path, str(300 * KIB), str(100 * KIB))
    assert read_memory(meminfo, small) == Memory(300 * KIB, 200 * KIB)
    crowded = limit_container(tmp_path, str(900 * KIB), str(100 * KIB))
    assert read_memory(meminfo, crowded) == Memory(900 * KIB, 600 * KIB)


def test_memory_is_unknown_where_the_system_does_not_tell(tmp_path: Path) -> None:
    assert read_memory(tmp_path / "absent") is None
    (tmp_path / "strange").write_text("nothing: 1 kB\n")
    assert read_memory(tmp_path / "strange") is None


def test_products_are_counted_and_timed() -> None:
    rate = product_rate(torch.device("cpu"), torch.float32, seconds=0.05)
    assert 1e8 < rate < 1e15


def test_the_library_of_products_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.tasks.machine.is_onednn_faster", lambda: False)
    assert f"BLAS_INFO={product_library()}," in torch.__config__.show()
    monkeypatch.setattr("headway.tasks.machine.is_onednn_faster", lambda: True)
    assert product_library() == "oneDNN"
