from pathlib import Path

import pytest
from toy_translation import sources, teach, translated, write_lines


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that translates the toy language, nearly always rightly."""
    return teach(tmp_path_factory.mktemp("taught") / "run", steps=300, seed=1)


@pytest.fixture(scope="session")
def beginner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the same vocabulary that has not learned much."""
    return teach(tmp_path_factory.mktemp("beginner") / "run", steps=60, seed=2)


@pytest.fixture(scope="session")
def held_out_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Lines that were not trained on (some were, as there are few short ones), and their translations."""
    directory = tmp_path_factory.mktemp("test")
    lines = sources(200, seed=7)
    return (
        write_lines(directory / "test.en", lines),
        write_lines(directory / "test.fr", [translated(line) for line in lines]),
    )
