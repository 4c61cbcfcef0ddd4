"""`headway show` of a sentence: a trained run, whatever its family, -> where its model looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from headway.config import Config
from headway.errors import UserError
from headway.models import EncoderDecoder, EncoderOnly, Model
from headway.search.torch_engine import TorchEngine
from headway.search.translator import OnWarning, Translator, is_unicode
from headway.show.document import Document, attention_document
from headway.store.run import Run
from headway.tasks.loading import changed_config
from headway.train.precision import choose_device


@dataclass(frozen=True)
class Trained:
    """A run with its model."""

    run: Run
    config: Config
    model: Model

    @classmethod
    def load(cls, path: str | Path, *, checkpoint: str | None = None, settings: Sequence[str] = ()) -> "Trained":
        """The run in a directory, its settings changed by assignments, with the checkpoint it chose or one by name."""
        run = Run.open(path)
        config = changed_config(run, settings)
        if config.machine.threads:
            torch.set_num_threads(config.machine.threads)
        model = run.load_model(run.checkpoints.find(checkpoint) if checkpoint else None)
        return cls(run, config, model.to(choose_device(config.machine.device)))

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def writes(self) -> bool:
        """Whether the model makes one text from another; else it reads a single one."""
        return self.config.objective == "translation" or isinstance(self.model, EncoderDecoder)

    @property
    def learns_from_pairs(self) -> bool:
        """Whether two texts go into its training; else it hides parts of one, or continues it."""
        return self.config.objective in ("translation", "tagging")

    def translator(self) -> Translator:
        """What writes with the model."""
        assert not isinstance(self.model, EncoderOnly), "it cannot write"
        search, max_length = self.config.search, self.config.data.max_length
        engine = TorchEngine(self.model, search, self.device)
        return Translator(engine, self.run.vocabulary, search, max_length=max_length)


def show_sentence(
    trained: Trained, sentence: str, translation: str | None = None, on_warning: OnWarning | None = None
) -> Document:
    """The attention over a sentence and its translation, which the model writes if it is not given."""
    sentence = sentence.strip()
    if not sentence:
        raise UserError("the sentence is empty; give one, in quotes")
    if not is_unicode(sentence + (translation or "")):
        raise UserError("the sentence has bytes that are no UTF-8; give it as UTF-8")
    vocabulary = trained.run.vocabulary
    if trained.writes:
        written = _write(trained, sentence, on_warning) if translation is None else translation.strip()
        return attention_document(trained.model, vocabulary, sentence, written)
    if translation is not None:
        raise UserError(
            f"{trained.run.path} was trained for {trained.config.objective} and reads one text; leave out --translation"
        )
    return attention_document(trained.model, vocabulary, sentence)


def _write(trained: Trained, sentence: str, on_warning: OnWarning | None) -> str:
    """What the model makes of a sentence."""
    (translation,) = trained.translator().translate([sentence], on_warning=on_warning)
    if translation.error:
        raise UserError(f"the sentence cannot be translated: {translation.error}; give its --translation")
    return translation.text
