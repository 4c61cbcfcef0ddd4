"""Lines of text in, translations out: all of them, in order, each as if it were alone."""

import itertools
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headway.config import ModelConfig, SearchConfig
from headway.errors import UserError
from headway.models import AttentionMaps, build_model
from headway.search.alignment import to_pharaoh
from headway.search.engine import Wish
from headway.search.ensemble import Ensemble
from headway.search.torch_engine import TorchEngine
from headway.search.translations import Line, to_output
from headway.search.translator import Translator
from headway.text.learn import learn_tokenizer
from headway.text.vocabulary import Vocabulary

TEXT = ["The animal did not cross the street.", "It was too tired.", "Was it too wide? The dog sleeps!"] * 5
BOTH = learn_tokenizer(TEXT, "bpe", 330)
VOCABULARY = Vocabulary(BOTH, BOTH)


@dataclass(frozen=True)
class Place:
    """Where the echo stands in its sources."""

    source: Tensor
    position: int = 0

    def select(self, rows: Tensor) -> "Place":
        return Place(self.source[rows], self.position)

    def branch(self, parents: Tensor) -> "Place":  # noqa: ARG002
        return self


@dataclass
class Echo:
    """Says again what it is told, unless it is longer than it can bear."""

    longest: int = 1000
    batches: list[int] = field(default_factory=list)

    def start(self, source: Tensor) -> Place:
        if source.size(1) > self.longest:
            raise UserError(f"{source.size(1)} tokens are too many")
        self.batches.append(len(source))
        return Place(source)

    def step(self, tokens: Tensor, state: Place) -> tuple[Tensor, Place]:
        values = torch.zeros(*tokens.shape, len(BOTH))
        place = min(state.position, state.source.size(1) - 1)
        values.scatter_(2, state.source[:, place, None, None].expand(*tokens.shape, 1), 8.0)
        return values.log_softmax(-1), Place(state.source, state.position + 1)

    def encode(self, source: Tensor) -> Tensor:
        return source

    def states(self, source: Tensor, target: Tensor, *, with_weights: bool) -> tuple[Tensor, AttentionMaps]:
        assert with_weights
        weights = torch.eye(max(source.size(1), target.size(1)))[: target.size(1), : source.size(1)]
        return torch.empty(0), AttentionMaps(cross=[weights.expand(len(source), 2, -1, -1)])


def translator_of(model=None, *, max_length: int = 256, vocabulary: Vocabulary = VOCABULARY, **settings) -> Translator:
    config = SearchConfig(**settings)
    return Translator(TorchEngine(model or Echo(), config), vocabulary, config, max_length=max_length)


@settings(max_examples=30)
@given(
    st.lists(st.text(max_size=20).map(lambda text: "".join(text.split())), max_size=12),
    st.integers(1, 80),
    st.integers(1, 5),
    st.sampled_from([1, 2]),
)
def test_every_line_comes_back_in_its_place(lines: list[str], tokens: int, window: int, beam: int) -> None:
    translator = translator_of(batch_tokens=tokens, window=window, beam=beam)
    translations = translator.translate(lines)
    assert [each.text for each in translations] == [BOTH.normalise(line) for line in lines]
    assert all(each.error is None and each.finished for each in translations)


def test_an_empty_line_gives_an_empty_line() -> None:
    translations = translator_of().translate(["", "It was tired.", "  \n"], alignments=True)
    assert [each.text for each in translations] == ["", "It was tired.", ""]
    assert (translations[0].n_best, translations[0].alignment, translations[0].error) == ([], [], None)


def test_a_line_that_fails_is_named_and_the_others_are_delivered() -> None:
    warnings: list[tuple[int, str]] = []
    lines = ["It was.", "The dog sleeps. " * 9, "It did not."]
    translations = translator_of(Echo(longest=10), long_lines="whole").translate(
        lines, on_warning=lambda number, text: warnings.append((number, text))
    )
    assert [each.text for each in translations] == ["It was.", "", "It did not."]
    assert translations[1].error is not None
    assert translations[1].error.endswith("tokens are too many")
    assert warnings == [(2, translations[1].error)]
    assert translator_of(Echo(longest=10), long_lines="whole").translate(lines) == translations


def test_what_an_engine_fails_at_is_left_to_the_one_in_reserve() -> None:
    config = SearchConfig(long_lines="whole")
    asked: list[TorchEngine] = []

    def reserve() -> TorchEngine:
        asked.append(TorchEngine(Echo(longest=30), config))
        return asked[-1]

    short = TorchEngine(Echo(longest=10), config)
    translator = Translator(short, VOCABULARY, config, max_length=256, reserve=reserve)
    lines = ["It was.", "The dog sleeps. " * 4, "It did not."]
    assert translator.translate([lines[0], lines[2]])[1].text == lines[2]
    assert not asked
    assert [each.text for each in translator.translate(lines)] == [line.strip() for line in lines]
    (failed,) = translator.translate(["The dog sleeps. " * 20])
    assert (failed.error or "").endswith("tokens are too many")


class WithoutPhrases(TorchEngine):
    """An engine that cannot promise phrases."""

    def cannot(self, wish: Wish) -> str | None:
        return "no phrases here" if wish == "phrases" else super().cannot(wish)


def test_phrases_are_left_to_an_engine_that_can_promise_them_together() -> None:
    config = SearchConfig(extra_length=5)
    plain, able = WithoutPhrases(Echo(), config), TorchEngine(Echo(), config)
    lines = [Line("It was.", phrases=("dog",)), "It was.", Line("It did.", phrases=("dog",))]
    found = Translator(plain, VOCABULARY, config, max_length=256, reserve=lambda: able).translate(lines)
    assert ["dog" in each.text for each in found] == [True, False, True]
    assert isinstance(able.model, Echo)
    assert able.model.batches == [2]
    refused = Translator(plain, VOCABULARY, config, max_length=256).translate(lines)
    assert [each.error for each in refused] == ["no phrases here", None, "no phrases here"]


def test_a_line_that_is_no_text_is_named_too() -> None:
    lines = ["It was.", "tired \ud800 dog", Line("It was.", prefix="\udfff"), "It did not."]
    translations = translator_of().translate(lines)
    assert [each.text for each in translations] == ["It was.", "", "", "It did not."]
    assert ["surrogate" in (each.error or "") for each in translations] == [False, True, True, False]


def test_a_long_line_is_translated_in_parts() -> None:
    line = "The dog sleeps. It was too tired.  Was it too wide? The animal did not cross the street!"
    size = len(BOTH.encode("The animal did not cross the street!"))
    warnings: list[int] = []
    model = Echo(longest=size + 1)
    (translation,) = translator_of(model, max_length=size).translate(
        [line], alignments=True, on_warning=lambda number, _: warnings.append(number)
    )
    assert translation.text == line
    assert translation.alignment is not None
    assert to_pharaoh(translation.alignment) == " ".join(f"{word}-{word}" for word in range(len(line.split())))
    assert len(translation.probabilities) == len(translation.tokens) + 3, "three parts have three ends"
    assert warnings == []


@pytest.mark.parametrize("long_lines", ["split", "whole"])
def test_what_stays_too_long_is_translated_with_a_warning_that_names_the_line(long_lines: str) -> None:
    warnings: list[tuple[int, str]] = []
    line = "the dog sleeps and it was too tired and the street too wide"
    translations = translator_of(max_length=5, long_lines=long_lines).translate(
        ["it", line], on_warning=lambda *warning: warnings.append(warning)
    )
    assert [each.text for each in translations] == ["it", line]
    assert [number for number, _ in warnings] == [2]
    assert "trained on at most 5 (data.max_length)" in warnings[0][1]


def test_any_number_of_lines_is_read_window_by_window() -> None:
    lines = (f"It was {number}." for number in itertools.count())
    stream = translator_of(beam=1, window=10).translate_stream(lines)
    assert [each.text for each in itertools.islice(stream, 25)] == [f"It was {number}." for number in range(25)]
    assert next(lines) == "It was 30."


def test_lines_are_translated_together_as_far_as_the_budget_allows() -> None:
    model = Echo()
    translator_of(model, beam=1, batch_tokens=10 * (len(BOTH.encode("It was.")) + 1)).translate(["It was."] * 25)
    assert model.batches == [9, 9, 7]  # three are needed, and so none is larger than it must be


def test_an_engine_is_asked_for_as_much_at_once_as_it_likes() -> None:
    model = Echo()
    translator = translator_of(model, beam=1)
    for tokens in (5, 10):
        translator.engine.batch_tokens = tokens * (len(BOTH.encode("It was.")) + 1)
        translator.translate(["It was."] * 10)
    assert model.batches == [5, 5, 10]


def test_a_text_is_made_with_its_batch_though_an_earlier_line_is_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    class Watched(Echo):
        def start(self, source: Tensor) -> Place:
            seen.append("batch")
            return super().start(source)

    def made(*arguments):
        seen.append("text")
        return to_output(*arguments)

    monkeypatch.setattr("headway.search.translator.to_output", made)
    lines = ["It was.", "The dog sleeps."]  # the longer one is translated first, and given back second
    found = translator_of(Watched(), beam=1, batch_tokens=1).translate(lines)
    assert [each.text for each in found] == lines
    assert seen == ["batch", "text"] * 2


def test_outputs_tell_their_pieces_and_probabilities() -> None:
    (translation,) = translator_of(n_best=3).translate(["It was tired."])
    assert translation.tokens == BOTH.pieces(BOTH.encode("It was tired."))
    assert len(translation.probabilities) == len(translation.tokens) + 1
    assert all(0.5 < each < 1 for each in translation.probabilities)
    assert len(translation.n_best) == 3
    assert translation.n_best[0].text == translation.text
    assert translation.n_best[0].score == translation.score > translation.n_best[1].score


def test_a_translation_never_breaks_its_line() -> None:
    (translation,) = translator_of().translate(["It was\ntired"])
    assert translation.text == "It was tired"


def model_of(**settings):
    sizes = {"vocabulary": len(BOTH), "layers": 2, "d_model": 16, "d_ff": 32, "heads": 2}
    return build_model(ModelConfig(**{**sizes, **settings})).eval()


@pytest.mark.parametrize("settings", [{"beam": 1}, {}, {"n_best": 4}, {"penalty": "power", "alpha": 1.0}])
def test_translations_score_as_they_are_reported(settings: dict) -> None:
    translator = translator_of(**settings)
    lines = [*TEXT[:3], "tired dog"]
    translations = translator.translate(lines)
    pairs = [(f" {line}\n", f"{each.text}\n") for line, each in zip(lines, translations, strict=True)]
    for each, scored in zip(translations, translator.score(pairs), strict=True):
        assert scored.tokens == each.tokens
        assert scored.score == pytest.approx(each.score, abs=1e-5)
        assert scored.probabilities == pytest.approx(each.probabilities, abs=1e-5)


def test_scores_are_those_of_the_echo() -> None:
    pairs = [("It was.", "It was."), ("It was.", "tired"), ("", "It was."), ("It was.", "")]
    right, wrong, nothing, empty = translator_of(window=2).score(pairs)
    assert right.score > 10 * wrong.score
    assert [len(each.probabilities) for each in (right, wrong)] == [len(each.tokens) + 1 for each in (right, wrong)]
    assert nothing.tokens == BOTH.pieces(BOTH.encode("It was."))
    assert (empty.text, len(empty.probabilities)) == ("", 1)


def test_prefixes_and_phrases_are_in_the_translation() -> None:
    lines = [
        Line("It was tired.", prefix="The dog"),
        Line("It was tired.", phrases=("street", "wide")),
        "It was tired.",
    ]
    first, second, third = translator_of(beam=8).translate(lines)
    assert first.text.startswith("The dog")
    assert "street" in second.text
    assert "wide" in second.text
    assert third.text == "It was tired."
    (refused,) = translator_of(method="sampling").translate(lines[1:2])
    assert refused.error == "phrases need search.method = beam; it is sampling"


def test_samples_depend_on_the_line_and_not_on_the_batch() -> None:
    model = model_of()
    lines = [TEXT[1]] * 6
    together = translator_of(model, method="sampling").translate(lines)
    apart = translator_of(model, method="sampling", batch_tokens=1).translate(lines)
    assert [each.text for each in together] == [each.text for each in apart]
    assert len({each.text for each in together}) == 6


def test_alternatives_of_a_beginning() -> None:
    best, *others = translator_of().alternatives("It was tired.", "It was", 3)
    assert BOTH.decode(best.output.tokens) == "It was tired."
    assert len(others) == 2
    assert all(each.log_probability < best.log_probability for each in others)


def test_alignments_need_attention() -> None:
    for model in (Ensemble([Echo()]), model_of(family="decoder-only")):
        with pytest.raises(UserError, match=f"{type(model).__name__} shows none"):
            translator_of(model).translate(["It was."], alignments=True)


@pytest.mark.parametrize("settings", [{"beam": 1}, {"beam": 3}])
def test_a_decoder_only_model_translates_sources_of_any_lengths(settings: dict) -> None:
    translator = translator_of(model_of(family="decoder-only"), extra_length=5, **settings)
    together = translator.translate([*TEXT[:3], "tired dog", "tired dog"])
    assert [each.error for each in together] == [None] * 5
    assert [each.text for each in together[:4]] == [
        translator.translate([line])[0].text for line in [*TEXT[:3], "tired dog"]
    ]
    assert together[3].text == together[4].text != ""


def test_two_vocabularies() -> None:
    source = learn_tokenizer(TEXT, "character", 300)
    sides = Vocabulary(source, BOTH)
    model = model_of(vocabulary=len(source), target_vocabulary=len(BOTH), share_embeddings="target-output")
    (translation,) = translator_of(model, vocabulary=sides, extra_length=3).translate(["It was."], alignments=True)
    assert 0 < len(translation.tokens) <= len("It was.") + 1 + 3
    assert {word for word, _ in translation.alignment or []} <= {0, 1}
