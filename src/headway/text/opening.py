"""What people name as a corpus (two aligned files, one file with both sides, a named corpus) -> a `Corpus`."""

from collections.abc import Iterable
from pathlib import Path

from headway.config import DataConfig
from headway.errors import UserError
from headway.text.corpus import AlignedFiles, Corpus, JsonLinesFile, TmxFile, TsvFile
from headway.text.files import COMPRESSIONS, display_name, text_suffix
from headway.text.named import NAMES, NamedSplit, is_name


def open_corpus(
    data: DataConfig,
    *,
    sources: Iterable[str | Path] = (),
    targets: Iterable[str | Path] = (),
    corpus: str | Path | None = None,
    split: str = "train",
) -> Corpus:
    """The corpus in aligned `sources` and `targets`, or `corpus`: a file with both sides, or a name and its split.

    Nothing is read before it is iterated.
    """
    aligned = tuple(map(Path, sources)), tuple(map(Path, targets))
    if corpus is None:
        if not any(aligned):
            raise UserError("no corpus was given; give source and target files, one file with both, or a name")
        return AlignedFiles(*aligned)
    if any(aligned):
        raise UserError(f"both {corpus} and source or target files were given; give one or the other")
    return NamedSplit(str(corpus), split) if is_name(str(corpus)) else _open_file(Path(corpus), data)


def _open_file(path: Path, data: DataConfig) -> Corpus:
    """A file with both sides; its suffix says its format."""
    match text_suffix(path):
        case ".tsv":
            return TsvFile(path, _columns(data))
        case ".jsonl" | ".ndjson":
            return JsonLinesFile(path, data.source_field, data.target_field)
        case ".tmx":
            if data.source_language is None or data.target_language is None:
                raise UserError(
                    f"{path} may hold many languages; set data.source_language and data.target_language to the "
                    "codes of two of them, as in en or en-GB"
                )
            return TmxFile(path, data.source_language, data.target_language)
        case suffix:
            found = f"unknown suffix {suffix}" if suffix else "no suffix"
            raise UserError(
                f"{display_name(path)}: {found}; a file with both sides is .tsv, .jsonl, .ndjson or .tmx, "
                f"plain or compressed ({', '.join(COMPRESSIONS)}); corpora with a name are {', '.join(NAMES)}"
            )


def _columns(data: DataConfig) -> tuple[int, int] | None:
    """The chosen columns, from 0; people count from 1."""
    if data.source_column is None or data.target_column is None:
        return None
    return data.source_column - 1, data.target_column - 1
