"""`metrics.jsonl`: appended to, and rewound when a run is resumed."""

from pathlib import Path

from headway.store.metrics import Metrics, read_metrics


def test_records_come_back_in_order(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    assert read_metrics(metrics.path) == []
    metrics.write({"step": 1, "loss": 2.5})
    metrics.write({"step": 1, "valid_perplexity": 7.0})
    assert read_metrics(metrics.path) == [{"step": 1, "loss": 2.5}, {"step": 1, "valid_perplexity": 7.0}]


def test_rewinding_forgets_later_steps_and_a_cut_line(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    for step in (10, 20, 20, 30):
        metrics.write({"step": step})
    with metrics.path.open("a") as file:
        file.write('{"step": 20, "lo')
    metrics.rewind(20)
    metrics.write({"step": 25})
    assert [record["step"] for record in read_metrics(metrics.path)] == [10, 20, 20, 25]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]


def test_rewinding_to_the_beginning_leaves_nothing(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "metrics.jsonl")
    metrics.write({"step": 1})
    metrics.rewind(0)
    assert metrics.path.read_text() == ""
