import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from test_cli import HEADWAY, run

from headway.allocator import find_tcmalloc
from headway.tasks.doctor import PURPOSES, check_disk, check_extras, check_threads, examine

BASICS = ["python", "packages", "torch", "tokenizers", "safetensors"]


def run_without(folder: Path, package: str, *arguments: str) -> subprocess.CompletedProcess:
    """Run the command where a package is damaged."""
    (folder / package).mkdir()
    (folder / package / "__init__.py").write_text("raise ImportError('lib.so: cannot open shared object\\nmore')")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([HEADWAY, "doctor", *arguments], capture_output=True, text=True, env=environment)


def test_this_machine_works() -> None:
    result = run("doctor", "--json")
    assert result.returncode == 0, result.stdout
    assert result.stderr == ""
    report = json.loads(result.stdout)
    findings = report["findings"]
    assert report["works"] is True
    assert list(findings)[:5] == BASICS
    assert [findings[name]["mark"] for name in ("torch", "tokenizers", "safetensors", "devices")] == ["ok"] * 4
    assert findings["fp32"]["facts"]["flops_per_second"] > 1e8
    is_slow = findings["bf16"]["facts"]["flops_per_second"] < findings["fp32"]["facts"]["flops_per_second"]
    assert findings["bf16"]["mark"] == ("slow" if is_slow else "ok")
    assert findings["allocator"]["facts"]["tcmalloc"] == find_tcmalloc()


def test_damaged_safetensors_fail_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    result = run_without(tmp_path, "safetensors")
    lines = result.stdout.splitlines()
    assert result.returncode == 1
    assert "failed  safetensors  ImportError: lib.so: cannot open shared object" in lines
    assert any("-> install it again: pip install --force-reinstall '" in line for line in lines)
    assert any(line.startswith("ok      tokenizers ") for line in lines)
    assert any(line.startswith("ok      disk ") for line in lines)
    assert lines[-1] == "Headway does not work here yet; see what failed above."


def test_damaged_torch_fails_as_json_too(tmp_path: Path) -> None:
    result = run_without(tmp_path, "torch", "--json")
    report = json.loads(result.stdout)
    assert result.returncode == 1
    assert report["works"] is False
    assert report["findings"]["torch"]["mark"] == "failed"
    assert "torch~=" in report["findings"]["torch"]["advice"]
    assert "fp32" not in report["findings"]


def test_findings_come_one_by_one_with_the_basics_first() -> None:
    findings = examine(seconds=0.01)
    assert [next(findings).name for _ in BASICS] == BASICS
    names = [finding.name for finding in findings]
    assert names[:5] == ["threads", "memory", "devices", "fp32", "bf16"]
    assert {"disk", "allocator", "ctranslate2"} <= set(names)


def test_a_missing_extra_says_what_it_gives_and_how_to_get_it() -> None:
    requirements = [
        "no-such-package>=3; extra == 'tensorboard'",
        "pytest>=1; extra == 'dev'",
        "pytest<1; extra == 'new'",
    ]
    tensorboard, dev, new = check_extras(requirements, ["tensorboard", "dev", "new"])
    assert (tensorboard.mark, tensorboard.advice) == ("missing", "pip install 'headway[tensorboard]'")
    assert tensorboard.text == f"{PURPOSES['tensorboard']}; needs no-such-package>=3"
    assert (dev.mark, dev.advice) == ("ok", "")
    assert new.mark == "missing"
    assert new.text.startswith("needs pytest<1 (")


def test_every_extra_has_a_purpose() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) == set(PURPOSES)


def test_a_disk_that_is_nearly_full_is_low(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    for free, mark in ((2**30, "low"), (2**34, "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        finding = check_disk(tmp_path)
        assert (finding.mark, finding.facts["available"]) == (mark, free)
        assert bool(finding.advice) is (mark == "low")


def test_threads_that_the_environment_holds_back_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = set(range(1000))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert check_threads().mark == "ok"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    finding = check_threads()
    assert (finding.mark, finding.advice) == ("slow", "unset OMP_NUM_THREADS to use all 1000 cores")
