"""What is read out of the logs of other toolkits, from lines as they write them."""

import json
import os
from pathlib import Path

import pytest

from peers.eole import EOLE
from peers.huggingface import HUGGINGFACE
from peers.joeynmt import JOEYNMT, seconds_at
from peers.marian import MARIAN
from peers.ours import HEADWAY
from peers.system import LOG, System, Validation, training_seconds

JOEYNMT_LOG = """\
2026-11-16 10:00:00,500 - INFO - joeynmt.training - EPOCH 1
2026-11-16 10:00:10,500 - INFO - joeynmt.training - Epoch   1, Step:       50, Batch Loss:     5.1, Batch Acc: 0.1, \
Tokens per Sec:      812, Lr: 0.000050
2026-11-16 10:00:12,000 - INFO - joeynmt.prediction - Generation took 1.5000[sec].
2026-11-16 10:00:30,500 - INFO - joeynmt.training - Epoch   1, Step:      100, Batch Loss:     4.8, Batch Acc: 0.1, \
Tokens per Sec:     1024, Lr: 0.000100
"""
MARIAN_LOG = """\
[2026-11-16 10:00:00] Training started
[2026-11-16 10:00:10] Ep. 1 : Up. 50 : Sen. 477 : Cost 9.5 * 9,750 @ 4,656 after 9,750 : Time 9.63s : 1366.20 words/s
[2026-11-16 10:00:14] [valid] Ep. 1 : Up. 50 : bleu : 0 : new best
[2026-11-16 10:00:20] Ep. 1 : Up. 100 : Sen. 863 : Cost 9.4 * 9,033 @ 4,356 after 18,783 : Time 9.81s : 537.46 words/s
"""
EOLE_LOG = """\
[2026-11-16 10:00:09,855 INFO] Step  2/    4; acc: 0.0; ppl: 8231.95; xent: 9.02; bsz: 3668/3645/298; 293/291 tok/s;
[2026-11-16 10:00:18,687 INFO] Step  4/    4; acc: 0.0; ppl: 8143.72; xent: 9.01; bsz: 3548/3870/215; 803/ 76 tok/s;
[2026-11-16 10:00:18,687 INFO] Train perplexity: 8186.4
"""


def judge(translations: Path) -> float:
    """So many lines, instead of BLEU."""
    return float(len(translations.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("system", "log", "rates"),
    [(JOEYNMT, JOEYNMT_LOG, [812, 1024]), (MARIAN, MARIAN_LOG, [1366.2, 537.46]), (EOLE, EOLE_LOG, [291, 76])],
)
def test_rates_are_those_of_target_tokens(tmp_path: Path, system: System, log: str, rates: list[float]) -> None:
    (tmp_path / LOG).write_text(log, encoding="utf-8")
    assert system.rates(tmp_path) == rates


def test_a_log_that_says_nothing_yet_has_no_rates_and_no_validations(tmp_path: Path) -> None:
    for system in (JOEYNMT, MARIAN, EOLE, HUGGINGFACE, HEADWAY):
        assert system.rates(tmp_path) == []
        assert system.validations is None or system.validations(tmp_path, judge) == []


def test_joeynmt_is_not_charged_for_the_time_of_its_validations(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text(JOEYNMT_LOG, encoding="utf-8")
    (tmp_path / "model").mkdir()
    for step, lines, ended in ((50, 2, "2026-11-16 10:00:15,500"), (100, 3, "2026-11-16 10:00:33,000")):
        path = tmp_path / "model" / f"{step}.hyps"
        path.write_text("t5\n" * lines, encoding="utf-8")
        os.utime(path, (seconds_at(ended), seconds_at(ended)))
    assert JOEYNMT.validations is not None
    assert JOEYNMT.validations(tmp_path, judge) == [Validation(50, 10.0, 2.0), Validation(100, 25.0, 3.0)]


def test_a_validation_of_marian_counts_once_its_score_is_there(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text(MARIAN_LOG, encoding="utf-8")
    for step in (50, 100):
        (tmp_path / f"{step}.hyps").write_text("t5\nt6\n", encoding="utf-8")
    assert MARIAN.validations is not None
    assert MARIAN.validations(tmp_path, judge) == [Validation(50, 10.0, 2.0)]
    with (tmp_path / LOG).open("a", encoding="utf-8") as log:
        log.write("[2026-11-16 10:00:25] [valid] Ep. 1 : Up. 100 : bleu : 3.2 : new best\n")
    assert MARIAN.validations(tmp_path, judge) == [Validation(50, 10.0, 2.0), Validation(100, 16.0, 2.0)]


def test_a_line_that_is_not_whole_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "10.hyps"
    path.write_text("t5\n", encoding="utf-8")
    records = [{"step": 10, "tokens_per_second": 900.5}, {"step": 10, "seconds": 4.5, "translations": str(path)}]
    lines = ["a warning of a library", *map(json.dumps, records), '{"step": 20, "tok']
    (tmp_path / LOG).write_text("\n".join(lines), encoding="utf-8")
    assert HUGGINGFACE.rates(tmp_path) == [900.5]
    assert HUGGINGFACE.validations is not None
    assert HUGGINGFACE.validations(tmp_path, judge) == [Validation(10, 4.5, 1.0)]


def test_headway_is_read_from_its_metrics(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    records = [{"step": 10, "tokens_per_second": 900.5}, {"step": 10, "valid_bleu": 3.5, "seconds": 4.5}]
    (tmp_path / "run" / "metrics.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert HEADWAY.rates(tmp_path) == [900.5]
    assert HEADWAY.validations is not None
    assert HEADWAY.validations(tmp_path, judge) == [Validation(10, 4.5, 3.5)]


def test_training_seconds_leave_out_what_lies_between() -> None:
    assert training_seconds(100.0, [(110.0, 115.0), (135.0, 138.0), (139.0, 150.0)]) == [10.0, 30.0, 31.0]
    assert training_seconds(100.0, []) == []
