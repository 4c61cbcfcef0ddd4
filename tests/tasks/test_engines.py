"""Which engine serves a run: the one asked for, or the fastest that can; and what is said about it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from random_runs import make_run

from headway.errors import UserError
from headway.export.conversions import FACTS
from headway.search.translations import Line
from headway.store.run import Run
from headway.tasks.engines import Notice, Wishes, shares
from headway.tasks.loading import load, open_request
from headway.tasks.translating import Order

LINES = ["one two", "", "three two one", "two " * 6]
SHORT = ["search.extra_length=3"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)  # the same model whichever tests came before
    return make_run(tmp_path_factory.mktemp("runs") / "run", search={"extra_length": 3}).path


def chosen(run: Path, **options) -> tuple[str, list[Notice]]:
    told: list[Notice] = []
    return load(run, on_notice=told.append, **options).engine.name, told


def test_both_engines_translate_alike_and_say_which_they_are(run: Path) -> None:
    settings = [*SHORT, "search.n_best=3", "data.max_length=4"]
    found = {name: load(run, engine=name, settings=settings).translate(LINES) for name in ("torch", "ctranslate2")}
    for ours, theirs in zip(found["torch"], found["ctranslate2"], strict=True):
        assert (ours.engine, theirs.engine) == ("torch", "ctranslate2")
        assert theirs.text == ours.text
        assert theirs.score == pytest.approx(ours.score, abs=1e-4)
        assert theirs.probabilities == pytest.approx(ours.probabilities, abs=1e-4)
        assert [each.finished for each in theirs.n_best] == [each.finished for each in ours.n_best]
    scored = [list(load(run, engine=name).score([("one two", "two")])) for name in found]
    assert scored[1][0].score == pytest.approx(scored[0][0].score, abs=1e-4)


def test_auto_takes_ctranslate2_and_converts_once(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run").path
    name, told = chosen(path)
    assert name == "ctranslate2"
    assert [notice.kind for notice in told] == ["wait", "detail"]
    assert told[0].text.startswith(f"converting {path}/checkpoints/step-00000001 for CTranslate2")
    assert "engine ctranslate2: float32 on cpu, workers: " in told[1].text
    assert "100.0% of 50 sentences as torch writes them" in told[1].text
    assert [notice.kind for notice in chosen(path)[1]] == ["detail"]
    name, told = chosen(path, checkpoint="step-00000002", quantization="int8")
    assert (name, told[0].kind) == ("ctranslate2", "wait")
    assert "engine ctranslate2: int8 on cpu" in told[1].text
    kept = sorted((path / "ctranslate2").iterdir())
    assert [json.loads((each / FACTS).read_text())["checkpoint"] for each in kept] == ["step-00000001", "step-00000002"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"settings": ["search.method=sampling"]}, "CTranslate2 cannot sample as search.seed has it"),
        ({"ensemble": ["{run}"]}, "CTranslate2 has one model, and an ensemble several"),
    ],
)
def test_what_it_cannot_do_falls_to_torch_or_is_refused(options: dict, reason: str, run: Path) -> None:
    filled = {name: [each.format(run=run) for each in values] for name, values in options.items()}
    name, told = chosen(run, **filled)
    assert name == "torch"
    assert told[0].text.startswith(f"engine torch: {reason}")
    assert told[0].kind == "detail"
    for refused in ({"engine": "ctranslate2"}, {"quantization": "int8"}):
        with pytest.raises(UserError, match=f"{reason}.*; use engine torch"):
            load(run, **refused, **filled)


def test_without_the_library_it_is_torch_or_how_to_install_it(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)  # as if it were not there
    name, told = chosen(run)
    assert (name, told[0].text) == ("torch", "engine torch: CTranslate2 is not installed")
    with pytest.raises(UserError, match="is not installed; pip install ctranslate2, or use engine torch"):
        load(run, engine="ctranslate2")


def test_another_device_is_left_to_torch(run: Path) -> None:
    with pytest.raises(UserError, match=r"machine\.device = abacus is no device"):
        load(run, device="abacus")
    with pytest.raises(UserError, match="CTranslate2 computes on cpu and cuda, not on mps"):
        load(run, device="mps", quantization="int8")


def test_alignments_are_a_matter_for_torch(run: Path) -> None:
    told: list[Notice] = []
    order = Order(str(run), alignments=True)
    (found,) = order.translate(["one two"], lambda *_: None, on_notice=told.append)
    assert (found.engine, found.alignment is None) == ("torch", False)
    assert "does not show the attention" in told[0].text
    with pytest.raises(UserError, match=r"does not show the attention .*; use engine torch"):
        replace(order, engine="ctranslate2").load()


def test_a_model_that_cannot_be_converted_falls_to_torch_or_is_refused(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", model={"pattern": "window", "family": "decoder-only"}).path
    name, told = chosen(path)
    assert name == "torch"
    assert "no decoder-only model of ours (model.family), no window attention (model.pattern)" in told[0].text
    with pytest.raises(UserError, match=r"cannot be converted: CTranslate2 has no decoder-only.*; use engine torch"):
        load(path, engine="ctranslate2")
    assert not (path / "ctranslate2").exists()


def test_a_conversion_that_writes_something_else_is_told_or_refused(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run").path
    chosen(path)
    facts = path / "ctranslate2" / "float32" / FACTS
    agreement = {**json.loads(facts.read_text())["agreement"], "greedy_equal": 0.98, "first_difference": "'one'"}
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "agreement": agreement}))
    name, told = chosen(path)
    assert (name, told[0].kind) == ("torch", "warning")
    assert "does not write what the run does, and is not used: 1 of 50 sentences differ" in told[0].text
    with pytest.raises(UserError, match=r"1 of 50 sentences differ, the first is 'one'; use engine torch"):
        load(path, engine="ctranslate2")


def test_a_run_that_cannot_be_written_to_is_served_by_torch(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run").path
    (path / "ctranslate2").write_text("in the way")
    name, told = chosen(path)
    assert (name, told[1].kind) == ("torch", "warning")
    assert "cannot write to" in told[1].text


def test_with_auto_torch_stands_by_for_what_ctranslate2_cannot_do(run: Path) -> None:
    lines = ["one two", Line("one two", phrases=("three",)), Line("two", prefix="one"), "two " * 3000]
    settings = [*SHORT, "search.beam=2", "search.extra_length=0", "search.long_lines=whole"]
    free, bound = (load(run, engine=name, settings=settings) for name in ("auto", "ctranslate2"))
    first, phrase, prefix, _ = found = free.translate([*lines[:3], lines[0]])
    assert [each.engine for each in found] == ["ctranslate2", "torch", "ctranslate2", "ctranslate2"]
    assert "three" in phrase.text
    assert prefix.text.startswith("one")
    assert free.translate(["one two"], alignments=True)[0].engine == "torch"
    assert len(free.alternatives("one", "", count=2)) == 2
    long, short = free.score([("two " * 3000, "one"), ("two", "one")])
    assert (long.engine, long.error, short.engine) == ("torch", None, "ctranslate2")
    warnings: list[int] = []
    found = bound.translate(lines, on_warning=lambda number, _: warnings.append(number))
    assert [each.error is None for each in found] == [True, False, True, False]
    assert found[0].text == first.text
    assert found[1].error == "CTranslate2 cannot promise phrases; use engine torch"
    assert "position" in (found[3].error or "")
    assert warnings == [4, 2, 4]
    with pytest.raises(UserError, match="use engine torch"):
        bound.translate(["one"], alignments=True)
    with pytest.raises(UserError, match="use engine torch"):
        bound.alternatives("one", "")


def test_quantization_is_for_ctranslate2(run: Path) -> None:
    with pytest.raises(UserError, match="engine torch translates in fp32; int8 needs engine ctranslate2"):
        load(run, engine="torch", quantization="int8")
    with pytest.raises(UserError, match="unknown quantization int9; did you mean int8"):
        load(run, quantization="int9")


@pytest.mark.parametrize(
    ("wishes", "settings", "expected"),
    [
        (Wishes(), ["machine.threads=6"], (6, 1)),
        (Wishes(workers=2), ["machine.threads=6"], (2, 3)),
        (Wishes(workers=1), ["machine.threads=6"], (1, 6)),
        (Wishes(workers=9), ["machine.threads=6"], (9, 1)),
        (Wishes(workers=2, quantization="int8"), ["machine.threads=6"], (2, 1)),
        (Wishes(), [], (3, 1)),
        (Wishes(workers=1), [], (1, 1)),
        (Wishes(one_by_one=True), [], (1, 2)),
        (Wishes(one_by_one=True, quantization="int8"), [], (1, 1)),
        (Wishes(one_by_one=True), ["machine.threads=6"], (1, 6)),
    ],
)
def test_threads_are_shared_among_workers(
    wishes: Wishes,
    settings: list[str],
    expected: tuple[int, int],
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setattr("headway.tasks.engines.quickest_threads", lambda *given: given[-1] - 1)
    request = open_request(run, None, settings, (), wishes)
    assert shares(request, "cpu", tmp_path) == expected
    assert shares(request, "cuda", tmp_path) == (wishes.workers or 1, 1)


def test_torch_is_not_loaded_where_ctranslate2_serves(tmp_path: Path) -> None:
    run: Run = make_run(tmp_path / "run")
    code = (
        f"import sys, headway\n"
        f"translator = headway.load({str(run.path)!r}, engine=sys.argv[1])\n"
        f"(found,) = translator.translate(['one two'])\n"
        f"list(translator.score([('one', 'two')]))\n"
        f"print(found.engine, 'torch' in sys.modules, 'ctranslate2' in sys.modules)"
    )
    for name, expected in (("auto", "ctranslate2 False True\n"), ("torch", "torch True False\n")):
        command = [sys.executable, "-c", code, name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == expected
