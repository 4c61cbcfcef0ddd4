from pathlib import Path

from test_cli import run

from headway.text.builtin import builtin_corpus


def test_a_named_corpus_becomes_aligned_files(tmp_path: Path) -> None:
    result = run("data", "--corpus", "builtin:zh-fr", "--out", str(tmp_path / "new" / "data"))
    assert result.returncode == 0, result.stderr
    counts = {}
    for path in sorted((tmp_path / "new" / "data").iterdir()):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n")
        counts[path.name] = text.count("\n")
    sizes = {"train": 40_000, "valid": 1000, "test": 1000, "pronouns": 400}
    assert counts == {f"{split}.{language}": size for split, size in sizes.items() for language in ("zh", "fr")}
    assert " 40,000 pairs  " in result.stdout
    known = builtin_corpus(sizes={"train": 3})
    for split in sizes:
        for language in ("zh", "fr"):
            lines = (tmp_path / "new" / "data" / f"{split}.{language}").read_text(encoding="utf-8").splitlines()
            assert lines[:3] == [sentence.text(language) for sentence in known[split][:3]]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "valid.fr"
    kept.write_text("mine\n")
    result = run("data", "--corpus", "builtin:en-fr", "--out", str(tmp_path))
    assert result.returncode == 2
    assert result.stderr == f"headway: {kept} exists already; choose another --out, or remove it first\n"
    assert [path.name for path in tmp_path.iterdir()] == ["valid.fr"]
    assert kept.read_text() == "mine\n"


def test_an_unknown_corpus_is_named_with_the_nearest(tmp_path: Path) -> None:
    result = run("data", "--corpus", "builtin:en-fx", "--out", str(tmp_path))
    assert result.returncode == 2
    assert result.stderr == "headway: unknown corpus builtin:en-fx; did you mean builtin:en-fr?\n"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("data", "--corpus", "builtin:en-fr", "--out", str(tmp_path / "file" / "data"))
    assert result.returncode == 2
    assert result.stderr.startswith("headway: cannot write to ")
