"""What is chosen from the size of a corpus."""

import pytest

from headway.presets import PRESETS, choose_preset, choose_steps


@pytest.mark.parametrize(
    ("pairs", "preset"), [(1, "tiny"), (300_000, "tiny"), (300_001, "small"), (2_000_000, "small"), (2_000_001, "base")]
)
def test_the_preset_grows_with_the_corpus(pairs: int, preset: str) -> None:
    chosen, reason = choose_preset(pairs)
    assert chosen == preset
    assert f"{pairs:,} pairs" in reason


def test_so_do_the_steps_but_slower() -> None:
    counts = [1, 7500, 30_000, 120_000, 300_000]
    assert [choose_steps(pairs) for pairs in counts] == [1000, 4500, 9000, 18_000, 25_000]
    assert choose_steps(30_000) == PRESETS["tiny"].settings["train"]["steps"]
