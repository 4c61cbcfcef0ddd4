"""What is shown of a run is its own model's, whatever its family."""

from pathlib import Path

import pytest
import torch
from shown_runs import train

from headway.errors import UserError
from headway.show.document import Document
from headway.store.run import Run
from headway.tasks.loading import load
from headway.tasks.showing import Trained, show_sentence
from headway.text.specials import BOS, EOS

SENTENCE = "one two three"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="module")
def trained(run: Path) -> Trained:
    return Trained.load(run)


def test_the_model_writes_the_translation_that_is_not_given(trained: Trained, run: Path) -> None:
    document = show_sentence(trained, f"  {SENTENCE}\n")
    (translation,) = load(run).translate([SENTENCE])
    assert (document.source_text, document.target_text) == (SENTENCE, translation.text)


def test_a_given_translation_is_read_by_the_model(trained: Trained) -> None:
    document = show_sentence(trained, SENTENCE, "three two one")
    vocabulary = trained.run.vocabulary
    source = torch.tensor([[*vocabulary.source.encode(SENTENCE), EOS]])
    target = torch.tensor([[BOS, *vocabulary.target.encode("three two one")]])
    with torch.no_grad():
        _, maps = Run.open(trained.run.path).load_model().states(source, target, with_weights=True)
    torch.testing.assert_close(torch.from_numpy(document.maps["cross"].weights), torch.cat(maps.cross))


def test_another_checkpoint_has_other_weights(trained: Trained, run: Path) -> None:
    earlier = Trained.load(run, checkpoint="step-00000002")

    def weights(document: Document) -> torch.Tensor:
        return torch.from_numpy(document.maps["encoder"].weights)

    one, other = (weights(show_sentence(each, SENTENCE, "three")) for each in (trained, earlier))
    assert trained.run.chosen().step == 4
    assert not torch.equal(one, other)
    with pytest.raises(UserError, match="no checkpoint step-00000009; it has step-00000002"):
        Trained.load(run, checkpoint="step-00000009")


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"model__family": "encoder-only"}, "encoder"),
        ({"model__family": "decoder-only", "train__objective": "language-model"}, "decoder"),
    ],
)
def test_a_run_that_reads_one_text_shows_the_maps_it_has(settings: dict, kind: str, tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", **settings))
    assert list(show_sentence(trained, SENTENCE).maps) == [kind]
    with pytest.raises(UserError, match=f"trained for {trained.config.objective} and reads one text; leave out --tr"):
        show_sentence(trained, SENTENCE, "three")


def test_a_decoder_that_translates_reads_its_translation_after_the_source(tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", model__family="decoder-only"))
    document = show_sentence(trained, SENTENCE)
    assert "".join(document.sequences["target"].texts) == f"{SENTENCE}</s><s>{document.target_text}"


@pytest.mark.parametrize(("sentence", "message"), [(" \n", "the sentence is empty"), ("\udcff", "no UTF-8")])
def test_a_sentence_that_cannot_be_shown_is_told(trained: Trained, sentence: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        show_sentence(trained, sentence)


def test_a_sentence_that_cannot_be_translated_is_told(tmp_path: Path) -> None:
    settings = {"model__positions": "learned", "model__max_positions": 10, "data__max_length": 10}
    trained = Trained.load(train(tmp_path / "run", **settings), settings=["search.long_lines=whole"])
    with pytest.raises(UserError, match=r"cannot be translated: a sequence of .* tokens.*; give its --translation"):
        show_sentence(trained, "one two three four " * 10)
