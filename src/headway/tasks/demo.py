"""`headway demo`: a small model, trained on the built-in corpus in minutes, measured and shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.errors import UserError
from headway.evaluate.report import report_texts
from headway.evaluate.scores import score_texts
from headway.models import EncoderDecoder
from headway.search.torch_engine import TorchEngine
from headway.search.translator import Translator
from headway.show.document import attention_document
from headway.show.page import attention_page, write_page
from headway.store.run import Run
from headway.tasks.loading import load
from headway.tasks.run_plots import run_figures
from headway.tasks.setting_up import Wanted
from headway.tasks.showing import Trained
from headway.tasks.training import NOBODY, Observer, train_run
from headway.text.builtin import Sentence, builtin_corpus
from headway.text.named import NamedSplit, languages_of

FAST = ("train.steps=600", "train.warmup=100", "train.validate_every=300", "train.save_every=300")
SHOWN = 12
"""Translations that are shown, the two famous ones among them."""


@dataclass(frozen=True)
class Shown:
    """A sentence, what the model made of it, and whether it is what the grammar says."""

    source: str
    reference: str
    translation: str
    choice: str | None = None
    """In sentences with *it*: the word that shows what the model took it for."""

    @property
    def is_right(self) -> bool:
        """Whether translation and reference are the same."""
        return self.translation == self.reference


@dataclass(frozen=True)
class Demo:
    """What the demo has to show."""

    run: Run
    bleu: float
    exact_match: float
    """Share of the held-out combinations that were translated word for word."""
    pronoun_accuracy: float
    """Share of the minimal pairs' sentences in which the model knew what *it* was."""
    train_seconds: float
    examples: list[Shown]
    page: Path

    def as_json(self) -> dict[str, float | str]:
        """The figures."""
        return {
            "bleu": self.bleu,
            "exact_match": self.exact_match,
            "pronoun_accuracy": self.pronoun_accuracy,
            "train_seconds": self.train_seconds,
            "run": str(self.run.path),
            "page": str(self.page),
        }


def run_demo(out: Path, pair: str = "en-fr", *, fast: bool = False, seed: int = 1, observer: Observer = NOBODY) -> Demo:
    """Train, or go on with what is there, then measure on what training never saw, and write the attention page."""
    name = f"builtin:{pair}"
    source, target = languages_of(name)
    wanted = Wanted("demo", assignments=[f"train.seed={seed}", *(FAST if fast else ())])
    _check_place(Run(out), name)
    outcome = train_run(
        out,
        wanted,
        NamedSplit(name, "train"),
        NamedSplit(name, "valid"),
        resume=True,
        command=["headway", "demo", "--pair", pair, *(["--fast"] if fast else []), "--out", str(out)],
        observer=observer,
    )
    if outcome.result is None:
        raise KeyboardInterrupt
    return measure(outcome.run, source, target, builtin_corpus(sizes={"train": 0, "valid": 0}))


def measure(run: Run, source: str, target: str, splits: Mapping[str, list[Sentence]]) -> Demo:
    """Translate both test parts of a corpus and look at the first of the pronouns, the famous sentence."""
    translator = load(run.path, engine="torch")  # its attention is shown, too
    test, pronouns = (_translated(translator, splits[name], source) for name in ("test", "pronouns"))
    references = [sentence.text(target) for sentence in splits["test"]]
    bleu = score_texts(test, [references], language=target, metrics=("bleu",), samples=0)["bleu"].value
    exact = report_texts(test, [references]).exact_matches
    understood = [s.is_understood(target, text) for s, text in zip(splits["pronouns"], pronouns, strict=True)]
    famous, translated = splits["pronouns"][0], pronouns[0]
    page = run.path / "attention.html"
    assert isinstance(translator.engine, TorchEngine)
    model = translator.engine.model
    assert isinstance(model, EncoderDecoder)
    document = attention_document(model, run.vocabulary, famous.text(source), translated)
    write_page(attention_page(document, run_figures(Trained(run, run.config, model))), page)
    return Demo(
        run,
        round(bleu, 2),
        round(exact, 4),
        round(sum(understood) / len(understood), 4),
        (run.result or {})["train_seconds"],
        _examples(splits, test, pronouns, source, target),
        page,
    )


def _translated(translator: Translator, sentences: Sequence[Sentence], language: str) -> list[str]:
    return [translation.text for translation in translator.translate([s.text(language) for s in sentences])]


def _examples(
    splits: Mapping[str, list[Sentence]], test: list[str], pronouns: list[str], source: str, target: str
) -> list[Shown]:
    """The famous pair, two more pairs, and sentences of the test from here and there."""
    riddles = [
        Shown(s.text(source), s.text(target), text, _choice(s, target, text))
        for s, text in zip(splits["pronouns"][:6], pronouns[:6], strict=True)
    ]
    every = max(len(test) // (SHOWN - len(riddles)), 1)
    others = zip(splits["test"][::every], test[::every], strict=True)
    return [*riddles, *(Shown(s.text(source), s.text(target), text) for s, text in others)][:SHOWN]


def _choice(sentence: Sentence, language: str, translation: str) -> str | None:
    """Which of the two contrasting words the translation has."""
    right, wrong = sentence.contrast(language)
    if sentence.is_understood(language, translation):
        return right
    return wrong if wrong in translation else None


def _check_place(run: Run, name: str) -> None:
    """The directory must be new, or hold a demo of the same languages."""
    if run.exists and f"{name} train" not in run.card["data"].get("train", {}):
        raise UserError(f"{run.path} has a run of another corpus than {name}; choose another --out")
