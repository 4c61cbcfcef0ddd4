"""What the user left open is chosen from the corpus, and said; what they set is left alone."""

from pathlib import Path

import pytest

from headway.data.prepared import Prepared
from headway.store.run import Run
from headway.tasks.beginning import NEW
from headway.tasks.setting_up import Wanted, choose_settings, set_up
from headway.text.corpus import AlignedFiles
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


def set_up_with(space: str, objective: str, directory: Path) -> Run:
    directory.mkdir()
    for name, words in (("en", ["one two", "two"]), ("fr", ["un deux", "deux"])):
        (directory / name).write_text("".join(f"{space}{text}{space}\n" for text in words), encoding="utf-8")
    corpus = AlignedFiles((directory / "en",), (directory / "fr",))
    family = "encoder-decoder" if objective == "translation" else "encoder-only"
    wanted = Wanted("demo", assignments=[f"model.family={family}"])
    return set_up(directory / "run", wanted, corpus, corpus, NEW, [], lambda _: None, lambda *_: None)


@pytest.mark.parametrize(("objective", "is_same"), [("translation", True), ("masked-tokens", False)])
def test_a_translator_learns_what_it_will_be_given_no_space_at_the_ends(
    objective: str, is_same: bool, tmp_path: Path
) -> None:
    plain, spaced = (set_up_with(space, objective, tmp_path / name) for name, space in (("plain", ""), ("spaced", " ")))
    assert plain.config.objective == objective
    assert (spaced.vocabulary.fingerprint == plain.vocabulary.fingerprint) == is_same
    for name in ("train", "valid"):
        ours, theirs = (Prepared(run.data / name)[0] for run in (plain, spaced))
        assert all(one.tolist() == other.tolist() for one, other in zip(ours, theirs, strict=True)) == is_same
