"""`headway export` as a user runs it."""

import json
from pathlib import Path

import ctranslate2
from tokenizers import Tokenizer
from toy_translation import called, headway

from headway.errors import UserError


def test_a_run_is_exported_and_others_can_use_it(taught: Path, tmp_path: Path) -> None:
    out = tmp_path / "exported"
    done = headway("export", taught, "--to", "ctranslate2", "--out", out)
    assert done.returncode == 0, done.stderr
    assert f"is written to {out} for ctranslate2, in float32\n" in done.stdout
    assert "the same as by torch, of 20 validation sentences:\n  100.0%  by greedy search\n" in done.stdout
    assert "(+0.00)" in done.stdout
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    tokens = tokenizer.encode("two five one").tokens
    ((best,),) = (each.hypotheses for each in ctranslate2.Translator(str(out)).translate_batch([tokens]))
    assert tokenizer.decoder.decode(best) == "un cinq deux"


def test_int8_as_json(taught: Path, tmp_path: Path) -> None:
    out = tmp_path / "int8"
    done = headway("export", taught, "--to", "ctranslate2", "--out", out, "--quantization", "int8", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["out"], facts["to"], facts["sentences"]) == (str(out), "ctranslate2", 20)
    assert facts["greedy_equal"] > 0.8
    assert facts["checkpoint"] == json.loads((out / "conversion.json").read_text())["checkpoint"]


def test_wrong_input_is_told(taught: Path, tmp_path: Path) -> None:
    there = headway("export", taught, "--to", "ctranslate2", "--out", tmp_path)
    assert there.returncode == 2
    assert there.stderr == f"headway: {tmp_path} exists already; choose another --out, or remove it first\n"
    for flags, message in (
        (["--quantization", "int7"], "unknown quantization int7; did you mean int8"),
        (["--checkpoint", "step-00000007"], "has no checkpoint step-00000007"),
    ):
        refused = called("export", taught, "--to", "ctranslate2", "--out", tmp_path / "out", *flags)
        assert isinstance(refused.exception, UserError)
        assert message in str(refused.exception)
    assert list(tmp_path.iterdir()) == []
