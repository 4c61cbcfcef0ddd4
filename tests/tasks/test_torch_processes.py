"""Our own engine in several processes answers as it does in this one, and whichever is free gets the next batch."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import torch
from random_runs import make_run

from headway.processes import Worker
from headway.search.engine import Part
from headway.search.translations import Line
from headway.search.translator import Translator
from headway.tasks import torch_processes
from headway.tasks.loading import load

LINES = ["one two", "", Line("three two one", prefix="two"), Line("two one", phrases=["three"]), "two " * 6]
PARTS = [Part(1, 0, "one", source=[4, 5], target=[5])]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)  # the same model whichever tests came before
    return make_run(tmp_path_factory.mktemp("runs") / "run", search={"extra_length": 3}).path


def both(run: Path, **options) -> tuple[Translator, Translator]:
    alone, together = (load(run, engine="torch", workers=count, **options) for count in (1, 2))
    assert isinstance(together.engine, torch_processes.TorchProcesses)
    assert together.engine.workers == 2
    return alone, together


def test_all_that_an_engine_is_asked_comes_out_as_in_one_process(run: Path, workers: Callable[[], list[int]]) -> None:
    alone, together = both(run, settings=["search.n_best=2"])
    with closing(together):
        assert len(workers()) == 2
        for ours, theirs in zip(
            alone.translate(LINES, alignments=True), together.translate(LINES, alignments=True), strict=True
        ):
            assert (theirs.text, theirs.tokens, theirs.alignment) == (ours.text, ours.tokens, ours.alignment)
            assert [each.text for each in theirs.n_best] == [each.text for each in ours.n_best]
            assert theirs.probabilities == pytest.approx(ours.probabilities, abs=1e-5)
        pairs = [("one two", "two"), ("three", "one three")]
        for ours, theirs in zip(alone.score(pairs), together.score(pairs), strict=True):
            assert theirs.score == pytest.approx(ours.score, abs=1e-5)
        shown = [translator.alternatives("one two", "two", 3) for translator in (alone, together)]
        assert [each.output.tokens for each in shown[1]] == [each.output.tokens for each in shown[0]]
        assert [each.output.score for each in shown[1]] == pytest.approx([each.output.score for each in shown[0]])
    assert not workers()


def test_an_ensemble_goes_to_the_processes_as_well(run: Path) -> None:
    alone, together = both(run, ensemble=[run])
    with closing(together):
        assert [each.text for each in together.translate(LINES)] == [each.text for each in alone.translate(LINES)]


def test_a_process_that_is_free_gets_the_next_batch(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = load(run, engine="torch", workers=2)
    engine = translator.engine
    held, release = threading.Event(), threading.Event()
    asked: list[Worker] = []
    call = torch_processes._call

    def first_waits(worker: Worker, question: dict) -> tuple[object, bytes]:
        asked.append(worker)
        if len(asked) == 1:
            held.set()
            assert release.wait(60)
        return call(worker, question)

    monkeypatch.setattr(torch_processes, "_call", first_waits)
    with closing(translator):
        slow = threading.Thread(target=engine.score, args=(PARTS,))
        slow.start()
        assert held.wait(60)
        for _ in range(3):
            engine.score(PARTS)
        release.set()
        slow.join(60)
    assert len(set(asked)) == 2
    assert asked.count(asked[0]) == 1
    assert len(asked) == 4


def test_processes_end_with_their_translator(run: Path, workers: Callable[[], list[int]]) -> None:
    translator = load(run, engine="torch", workers=2)
    assert len(workers()) == 2
    del translator
    assert not workers()
