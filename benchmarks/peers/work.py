"""What every system is given: the same tokens, the same model, the same recipe.

The corpus is cut by the vocabulary that `headway train` learns from it, and written as words that name the ids
(t17 t254 ...). Every toolkit can split such lines at spaces, so that all see the same tokens and count them alike.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from headway import load_config
from headway.config import Config
from headway.text.corpus import AlignedFiles
from headway.text.specials import SPECIAL_TOKENS
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import learn_vocabulary

VOCABULARY = 8000
DROPOUT = 0.1
BATCH_TOKENS = 4096
PEAK_RATE = 1e-3
WARMUP = 1000
FEW = 20
"""Pairs of the corpus that serve for validation where nothing is validated, as toolkits want some all the same."""


@dataclass(frozen=True)
class Work:
    """A corpus in a directory, and what is to be trained on it."""

    directory: Path
    corpus: AlignedFiles
    valid: AlignedFiles
    preset: str
    tokenizer: Tokenizer
    threads: int
    batch_tokens: int = BATCH_TOKENS

    @property
    def assignments(self) -> tuple[str, ...]:
        """What `headway train` is told beside its preset, so that all train the same."""
        return (
            f"tokenizer.size={VOCABULARY}",
            f"model.dropout={DROPOUT}",
            "model.norm_place=post",  # as the paper's; those that are compared by what they learn have it, too
            f"train.batch_tokens={self.batch_tokens}",
            "train.schedule=inverse-sqrt",
            "train.optimizer=adam",
            "train.weight_decay=0.0",  # this and mixed batches: presets may have them, the others do not
            "train.mix=1",
            f"train.warmup={WARMUP}",
            f"train.peak_rate={PEAK_RATE}",
            f"machine.threads={self.threads}",
        )

    @property
    def config(self) -> Config:
        """Headway's settings, from which the others take their sizes."""
        return load_config(self.preset, assignments=self.assignments)

    @property
    def name(self) -> str:
        """What the corpus is called in a report."""
        return ", ".join(path.name for path in self.corpus.paths)

    @property
    def vocabulary(self) -> Path:
        """A word a line, without special tokens; each toolkit adds its own."""
        return self.directory / "vocabulary.txt"

    def side(self, split: str, side: str) -> Path:
        """The file of one side of `train` or `valid`, in words."""
        return self.directory / f"{split}.{side}"

    def texts(self, translations: Path) -> list[str]:
        """What a file of words says."""
        lines = translations.read_text(encoding="utf-8").splitlines()
        return [text_of(self.tokenizer, line.split()) for line in lines]


def add_work_options(parser: ArgumentParser, *, with_valid: bool = False) -> None:
    """The options from which `work_from` makes a work."""
    sides = ("SOURCE", "TARGET")
    parser.add_argument("--corpus", required=True, nargs=2, type=Path, metavar=sides, help="two aligned files")
    if with_valid:
        parser.add_argument("--valid", required=True, nargs=2, type=Path, metavar=sides, help="to be translated")
    parser.add_argument("--preset", default="small", help="whose sizes all models have")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch-tokens", type=int, default=BATCH_TOKENS, help="of an update, at most about so many")
    parser.add_argument(
        "--environments", required=True, type=Path, metavar="DIR", help="where the peers are installed, or will be"
    )


def work_from(arguments: Namespace, directory: Path) -> Work:
    """Learn the vocabulary and write the files."""
    directory.mkdir(parents=True, exist_ok=True)
    corpus = aligned(*arguments.corpus)
    valid = aligned(*arguments.valid) if "valid" in arguments else first_pairs(corpus, directory)
    return write_work(directory, corpus, valid, arguments.preset, arguments.threads, arguments.batch_tokens)


def aligned(source: Path, target: Path) -> AlignedFiles:
    """Two files, by names that hold in every directory."""
    return AlignedFiles((source.absolute(),), (target.absolute(),))


def write_work(
    directory: Path,
    corpus: AlignedFiles,
    valid: AlignedFiles,
    preset: str,
    threads: int,
    batch_tokens: int = BATCH_TOKENS,
) -> Work:
    """The files of a work, with a vocabulary learned as `headway train` learns it."""
    wanted = load_config(preset, assignments=[f"tokenizer.size={VOCABULARY}"]).tokenizer
    tokenizer = learn_vocabulary(lambda: corpus, sum(1 for _ in corpus), wanted).source
    work = Work(directory, corpus, valid, preset, tokenizer, threads, batch_tokens)
    words = [word(token) for token in range(len(SPECIAL_TOKENS), len(tokenizer))]
    work.vocabulary.write_text("".join(f"{each}\n" for each in words), encoding="utf-8")
    for split, pairs in (("train", list(corpus)), ("valid", list(valid))):
        write_words(work.side(split, "source"), tokenizer, [pair.source for pair in pairs])
        write_words(work.side(split, "target"), tokenizer, [pair.target for pair in pairs])
    return work


def first_pairs(corpus: AlignedFiles, directory: Path) -> AlignedFiles:
    """The first pairs of a corpus, in files of their own."""
    pairs = list(islice(corpus, FEW))
    paths = directory / "few.source", directory / "few.target"
    paths[0].write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    paths[1].write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    return aligned(*paths)


def write_words(path: Path, tokenizer: Tokenizer, texts: list[str]) -> None:
    lines = (" ".join(map(word, ids)) for ids in tokenizer.encode_batch(texts))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def word(token: int) -> str:
    """The word that names a token."""
    return f"t{token}"


def text_of(tokenizer: Tokenizer, words: Iterable[str]) -> str:
    """The text that words spell; what names no token, such as a toolkit's own <unk>, is left out."""
    return tokenizer.decode(int(each[1:]) for each in words if each[:1] == "t" and each[1:].isdigit())
