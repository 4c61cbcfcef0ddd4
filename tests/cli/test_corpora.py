from pathlib import Path

import pytest

from headway.cli.corpora import open_held_out, open_training
from headway.config import DataConfig
from headway.errors import UserError
from headway.text.corpus import AlignedFiles, TsvFile
from headway.text.named import NamedSplit

DATA = DataConfig()
NOTHING = (None, None, None)
A, B = [Path("a.de")], [Path("a.en")]
FILES = AlignedFiles((Path("a.de"),), (Path("a.en"),))


def test_training_is_opened_from_two_files_one_file_or_a_name() -> None:
    assert open_training(A, B, None, DATA) == FILES
    assert open_training(None, None, ["a.tsv"], DATA) == TsvFile(Path("a.tsv"))
    columns = DataConfig(source_column=1, target_column=3)
    assert open_training(None, None, ["a.tsv"], columns) == TsvFile(Path("a.tsv"), (0, 2))
    assert open_training(None, None, ["builtin:en-fr"], DATA) == NamedSplit("builtin:en-fr", "train")


@pytest.mark.parametrize("role", ["valid", "test"])
def test_a_held_out_set_is_the_one_given_or_that_of_the_named_corpus(role: str) -> None:
    named = NamedSplit("builtin:en-fr", "train", seed=3)
    assert open_held_out(role, *NOTHING, DATA, FILES) is None
    assert open_held_out(role, *NOTHING, DATA, named) == NamedSplit("builtin:en-fr", role, seed=3)
    assert open_held_out(role, A, B, None, DATA, named) == FILES
    assert open_held_out(role, None, None, ["a.tsv"], DATA, named) == TsvFile(Path("a.tsv"))
    assert open_held_out(role, None, None, ["builtin:fr-en"], DATA, FILES) == NamedSplit("builtin:fr-en", role)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((A, None, None), "--{}source was given without --{}target; give both, or --{}corpus for both at once"),
        ((None, B, None), "--{}target was given without --{}source; give both, or --{}corpus for both at once"),
        (
            (A, B, ["a.tsv"]),
            "both --{}corpus and --{}source were given; give one file for both sides, or one for each",
        ),
        (
            (None, B, ["a.tsv"]),
            "both --{}corpus and --{}target were given; give one file for both sides, or one for each",
        ),
        ((None, None, ["a.tsv", "b.tsv"]), "--{}corpus was given 2 times (a.tsv, b.tsv); give it once"),
        ((None, None, ["builtin:en-fa"]), "unknown corpus builtin:en-fa; did you mean builtin:en-fr?"),
    ],
)
def test_wrong_flags_are_named_in_every_role(given: tuple, message: str) -> None:
    for role, prefix in (("train", ""), ("valid", "valid-"), ("test", "test-")):
        with pytest.raises(UserError) as raised:
            open_training(*given, DATA) if role == "train" else open_held_out(role, *given, DATA, FILES)
        assert str(raised.value) == message.replace("{}", prefix)


def test_training_needs_a_corpus() -> None:
    with pytest.raises(UserError, match="no corpus was given; give --source and --target, or --corpus with a file"):
        open_training(*NOTHING, DATA)
