"""What the user left open is chosen from the corpus, and said; what they set is left alone."""

from headway.tasks.setting_up import Wanted, choose_settings
from headway.train.events import Noted


def notes_of(wanted: Wanted, pairs: int) -> tuple[int, list[str]]:
    """The number of steps, and what was said."""
    said: list[str] = []
    config = choose_settings(wanted, pairs, lambda event: said.append(event.text) if isinstance(event, Noted) else None)
    return config.train.steps, said


def test_steps_follow_from_the_number_of_pairs() -> None:
    steps, (preset, told) = notes_of(Wanted(), 120_000)
    assert preset.startswith("preset tiny: 120,000 pairs")
    assert steps == 18_000
    assert told == "18,000 steps, which suit 120,000 pairs"


def test_steps_that_are_set_are_not_chosen() -> None:
    assert notes_of(Wanted(assignments=["train.steps=7"]), 120_000)[0] == 7
    assert len(notes_of(Wanted(assignments=["train.steps=7"]), 120_000)[1]) == 1


def test_a_preset_that_is_asked_for_keeps_its_steps() -> None:
    assert notes_of(Wanted("demo"), 120_000) == (Wanted("demo").config().train.steps, [])
    assert notes_of(Wanted(), 1_000_000)[0] == Wanted("small").config().train.steps
