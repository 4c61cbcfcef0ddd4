"""Two runs are compared by what they really write; tests/cli/test_distill.py compares their scores."""

from pathlib import Path

from random_runs import make_run
from shown_runs import train

from headway.store.run import Run
from headway.tasks.loading import load
from headway.tasks.side_by_side import TURN, Entrant, side_by_side
from headway.text.corpus import Pair

SETTINGS = ("search.extra_length=4", "search.min_length=4", "search.beam=1")


def test_both_translate_all_sentences_as_they_do_alone(tmp_path: Path) -> None:
    runs = [Run.open(train(tmp_path / "trained")), make_run(tmp_path / "random")]
    lines = [f"{'one ' * (number % 3 + 1)}two three" for number in range(TURN * 2 + 3)]
    pairs = [Pair(line, "three two") for line in lines]
    entrants = [Entrant(run, run.checkpoints.steps()[0], SETTINGS) for run in runs]
    sides = side_by_side(*entrants, pairs)
    for run, entrant, side in zip(runs, entrants, sides, strict=True):
        name = entrant.checkpoint.path.name
        alone = load(run.path, checkpoint=name, settings=SETTINGS, engine="torch").translate(lines)
        assert entrant.texts == [each.text for each in alone]
        assert side.parameters == sum(weight.numel() for weight in run.load_model().parameters())
        assert (side.run, side.checkpoint) == (str(run.path), name)
        assert side.sentences_per_second == len(lines) / entrant.seconds
    assert entrants[0].texts != entrants[1].texts
