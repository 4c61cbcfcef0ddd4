"""Curves are kept, so that an hour of training is not done twice."""

from argparse import Namespace
from pathlib import Path

import pytest

from peer_learning import MADE_FOR, claim, plot, read_curve, row, write_curve
from peers.environments import PeerError
from peers.system import Validation

CURVE = [Validation(200, 75.5, 1.25), Validation(400, 150.0, 3.5), Validation(600, 230.0, 6.0)]


def test_a_curve_that_is_kept_is_the_same(tmp_path: Path) -> None:
    write_curve(CURVE, tmp_path / "curve.jsonl")
    assert read_curve(tmp_path / "curve.jsonl") == CURVE


def test_only_a_directory_of_its_own_is_gone_on_in(tmp_path: Path) -> None:
    wanted = dict.fromkeys(MADE_FOR, "same") | {"corpus": [Path("a"), Path("b")], "validate_every": 200}
    out = tmp_path / "out"
    claim(out, Namespace(**wanted))
    claim(out, Namespace(**wanted | {"validate_every": 600}))
    for other in (wanted | {"minutes": 5.0}, wanted | {"corpus": [Path("a"), Path("c")]}):
        with pytest.raises(PeerError, match="not for these options"):
            claim(out, Namespace(**other))
    with pytest.raises(PeerError, match="not for these options"):
        claim(tmp_path, Namespace(**wanted))  # somebody else's


def test_a_row_has_what_was_known_at_each_share_of_the_time() -> None:
    assert row("Ours", CURVE, 200.0) == "| Ours | 400 | - | 1.2 | 3.5 |"


def test_all_systems_are_in_the_plot() -> None:
    drawn = plot({"Ours": CURVE, "Theirs": CURVE[:2]})
    assert all(name in drawn for name in ("Ours", "Theirs", "minutes of training"))
