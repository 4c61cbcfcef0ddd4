"""`headway data`: a named corpus, written as aligned files."""

from pathlib import Path
from typing import Annotated

import typer


def data(
    corpus: Annotated[str, typer.Option(help="Name of the corpus, as in builtin:en-fr.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="Directory to write to.", metavar="DIR")],
    seed: Annotated[int, typer.Option(min=0, help="Which of the possible corpora.")] = 1,
) -> None:
    """Write a named corpus as aligned files: train, valid, test and pronouns.

    The built-in corpus has English (en), French (fr) and Chinese (zh), in all six directions.

    \b
    Examples:
      headway data --corpus builtin:en-fr --out data
      headway check --source data/train.en --target data/train.fr
    """  # noqa: D301
    from headway.errors import UserError
    from headway.text.named import languages_of, named_corpus

    languages = languages_of(corpus)
    splits = named_corpus(corpus, seed)
    paths = {split: [out / f"{split}.{language}" for language in languages] for split in splits}
    for path in (path for pair in paths.values() for path in pair):
        if path.exists():
            raise UserError(f"{path} exists already; choose another --out, or remove it first")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for split, named in splits.items():
            pairs = list(named)
            for path, lines in zip(paths[split], zip(*pairs, strict=True), strict=True):
                path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
            typer.echo(f"{len(pairs):>7,} pairs  {paths[split][0]}  {paths[split][1]}")
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from None
