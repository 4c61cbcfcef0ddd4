"""A TMX file, what translation memories export (versions 1.1 to 1.4) -> its segments, one unit at a time.

The XML is parsed as it streams in. Entities may not be declared and nothing outside the file is read: a file that
wants either is refused. Of the markup inside a segment, what it encloses is kept (`hi`) and codes of other programs
(`bpt`, `ept`, `it`, `ph`, `ut`) are dropped. White space with a line break in it comes from whoever laid out the
XML: it becomes one space, or nothing at the ends of a segment.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from headway.errors import UserError
from headway.text.files import LONGEST_LINE_BYTES, empty_file, place, read_blocks

CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
ENCODINGS = re.compile(r"utf-8|utf-16(le|be)?|us-ascii|iso-8859-\d+|windows-125\d", re.IGNORECASE)
LISTED_LANGUAGES = 20


class Segment(NamedTuple):
    """One language's side of a unit."""

    language: str
    text: str


@dataclass
class Tally:
    """What one pass through a file has met."""

    pairs: int = 0
    skipped: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        """Begin to count anew."""
        self.pairs = self.skipped = 0
        self.languages.clear()


def read_pairs(path: str | Path, source: str, target: str, tally: Tally) -> Iterator[tuple[str, str]]:
    """The texts of each unit in the languages `source` and `target`; `tally` counts as they come."""
    for unit in read_units(path):
        tally.languages.update({segment.language for segment in unit})
        if pair := choose_pair(unit, source, target):
            tally.pairs += 1
            yield pair
        else:
            tally.skipped += 1
    if tally.pairs + tally.skipped == 0:
        raise UserError(f"{path} has no translation units; expected <tu> elements")
    for language in (source, target):
        if not any(matches(language, code) for code in tally.languages):
            raise UserError(f"{path} has no segments in {language}; it has {_listing(tally.languages)}")
    if tally.pairs == 0:
        raise UserError(f"{path} has no unit in both {source} and {target}; it has {_listing(tally.languages)}")


def choose_pair(unit: list[Segment], source: str, target: str) -> tuple[str, str] | None:
    """The texts of two segments of the unit, those with exactly the languages asked for if there are such."""
    sources = [number for number, segment in enumerate(unit) if matches(source, segment.language)]
    targets = [number for number, segment in enumerate(unit) if matches(target, segment.language)]
    best = None
    for one, other in product(sources, targets):
        variants = len(unit[one].language) + len(unit[other].language)  # the exact codes are the shortest that match
        if one != other and (best is None or variants < best[0]):
            best = variants, (unit[one].text, unit[other].text)
    return best[1] if best else None


@lru_cache(maxsize=1024)  # a file has few codes, and asks for each in every unit
def matches(language: str, code: str) -> bool:
    """Whether a segment with `code` is in `language`: en is met by en, EN-us and en_GB, en-US not by en."""
    wanted, found = (name.lower().replace("_", "-") for name in (language, code))
    return found == wanted or found.startswith(f"{wanted}-")


def read_units(path: str | Path) -> Iterator[list[Segment]]:
    """The translation units, each with its segments in the order of the file."""
    parser = _UnitParser(path)
    fed = 0
    for block in _checked_blocks(path):
        parser.feed(block, final=False)
        fed += len(block)
        yield from parser.take()
        if parser.pending(fed) > LONGEST_LINE_BYTES:
            raise parser.error(f"a tag or comment of more than {LONGEST_LINE_BYTES >> 20} MiB; expected TMX")
    if not fed:
        raise empty_file(path)
    parser.feed(b"", final=True)
    yield from parser.take()


def _checked_blocks(path: str | Path) -> Iterator[bytes]:
    """The file's blocks; if it is UTF-16, without the halves of surrogate pairs that expat joins to what follows."""
    decoder: codecs.IncrementalDecoder | None = None
    offset = 0
    for block in read_blocks(path):
        if offset == 0 and block[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            decoder = codecs.getincrementaldecoder("utf-16")()
        if decoder is not None:
            undecoded = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{path}: invalid UTF-16: half of a surrogate pair at offset {offset - undecoded + error.start:,}; "
                    "export the file as UTF-8"
                ) from None
        offset += len(block)
        yield block


class _UnitParser:
    """Gathers the units that the XML parser has met and that nobody has taken yet."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.units: list[list[Segment]] = []
        self.unit: list[Segment] = []
        self.language = ""
        self.is_inside_root = False
        self.pieces: list[str] | None = None  # of the segment that is open
        self.length = 0
        self.open_codes = 0
        self.xml = expat.ParserCreate()
        self.xml.buffer_text = True
        self.xml.StartElementHandler = self.start
        self.xml.EndElementHandler = self.end
        self.xml.CharacterDataHandler = self.text
        self.xml.XmlDeclHandler = self.check_encoding
        self.xml.EntityDeclHandler = self.refuse_declaration
        self.xml.ExternalEntityRefHandler = self.refuse_external
        self.xml.SkippedEntityHandler = self.refuse_unknown

    def feed(self, block: bytes, final: bool) -> None:
        try:
            self.xml.Parse(block, final)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            if error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]:
                problem = "the file ends before all of its elements do"
            where = place(self.path, error.lineno, error.offset + 1)
            raise UserError(f"{where}: invalid XML: {problem}; export the file again") from None

    def take(self) -> list[list[Segment]]:
        units, self.units = self.units, []
        return units

    def pending(self, fed: int) -> int:
        """How many of the bytes fed wait for the end of their token."""
        return fed - self.xml.CurrentByteIndex

    def error(self, problem: str) -> UserError:
        where = place(self.path, self.xml.CurrentLineNumber, self.xml.CurrentColumnNumber + 1)
        return UserError(f"{where}: {problem}")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.is_inside_root:
            if name != "tmx":
                raise self.error(f"the outermost element is <{name}>; expected <tmx>")
            self.is_inside_root = True
        if self.pieces is not None:
            self.open_codes += name in CODES
        elif name == "tu":
            self.unit = []
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg":
            self.pieces, self.length, self.open_codes = [], 0, 0

    def end(self, name: str) -> None:
        if self.pieces is not None:
            self.open_codes -= name in CODES
            if name == "seg":
                self.unit.append(Segment(self.language, _unfold("".join(self.pieces))))
                self.pieces = None
        elif name == "tu":
            self.units.append(self.unit)

    def text(self, text: str) -> None:
        if self.pieces is not None and not self.open_codes:
            self.pieces.append(text)
            self.length += len(text)
            if self.length > LONGEST_LINE_BYTES:
                raise self.error(
                    f"a segment of more than {LONGEST_LINE_BYTES >> 20} Mi characters; expected a sentence"
                )

    def check_encoding(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002
        if encoding is not None and not ENCODINGS.fullmatch(encoding):
            raise self.error(f"unknown encoding {encoding}; export the file as UTF-8 or UTF-16")

    def refuse_declaration(self, name: str, *_: object) -> None:
        raise self.error(f"the file declares the entity {name}, which TMX has no use for and is not safe; remove it")

    def refuse_external(self, context: str, *_: object) -> int:
        raise self.error(f"the file refers to the external entity {context}, which is not read; remove it")

    def refuse_unknown(self, name: str, *_: object) -> None:
        raise self.error(f"unknown entity &{name};; write the character itself")


def _unfold(text: str) -> str:
    """The text in one line, as it was before somebody laid out the XML."""
    if "\n" not in text:
        return text
    unfolded = re.sub(r"[ \t\r\n]+", lambda space: "\n" if "\n" in space[0] else space[0], text)
    return unfolded.strip("\n").replace("\n", " ")


def _listing(languages: Counter[str]) -> str:
    """'en-US (1,200), de (900)'."""
    listed = [f"{code or '(no language)'} ({count:,})" for code, count in languages.most_common(LISTED_LANGUAGES)]
    more = len(languages) - len(listed)
    return ", ".join(listed) + (f" and {more:,} more" if more else "") if listed else "no segments"
