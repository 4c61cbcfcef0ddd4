import gzip
import json
import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from test_files import COMPRESS, endless_pipe, write

from headway.errors import UserError
from headway.text import tmx
from headway.text.corpus import AlignedFiles, Corpus, JsonLinesFile, Pair, TmxFile, TsvFile

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LINE = st.text(st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]))
PAIRS = [Pair("the cat", "le chat"), Pair("", "vide"), Pair(" a dog ", "un  chien")]


def error_of(corpus: Corpus) -> str:
    with pytest.raises(UserError) as raised:
        list(corpus)
    return str(raised.value)


def unit(*segments: tuple[str, str]) -> str:
    variants = "".join(f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>' for language, text in segments)
    return f"<tu>{variants}</tu>\n"


def memory(*units: str, opening: str = '<?xml version="1.0"?>\n') -> str:
    return f'{opening}<tmx version="1.4"><header srclang="en"/><body>\n{"".join(units)}</body></tmx>\n'


def tmx_file(path: Path, *units: str) -> TmxFile:
    return TmxFile(write(path / "memory.tmx", memory(*units).encode()), "en", "fr")


# Aligned files


@pytest.mark.parametrize("suffix", COMPRESS)
def test_aligned_files(tmp_path: Path, suffix: str) -> None:
    source = write(tmp_path / f"train.en{suffix}", "\n".join(pair.source for pair in PAIRS).encode() + b"\n")
    target = write(tmp_path / f"train.fr{suffix}", "\r\n".join(pair.target for pair in PAIRS).encode())
    corpus = AlignedFiles((source,), (target,))
    assert list(corpus) == PAIRS
    assert list(corpus) == PAIRS, "a corpus can be read again"
    assert corpus.paths == (source, target)
    assert str(corpus) == f"{source} | {target}"
    assert corpus.skipped == 0
    twice = AlignedFiles((source, source), (target, target))
    assert list(twice) == PAIRS * 2
    assert str(twice) == f"{source}, {source} | {target}, {target}"


def test_characters_that_end_lines_elsewhere_do_not_shift_the_alignment(tmp_path: Path) -> None:
    source = write(tmp_path / "a", "one\u2028two\x85three\x0c\x0b\x1c\rfour\nnext\n".encode())
    target = write(tmp_path / "b", b"1\n2\n")
    assert list(AlignedFiles((source,), (target,))) == [("one\u2028two\x85three\x0c\x0b\x1c\rfour", "1"), ("next", "2")]


@pytest.mark.parametrize(("sources", "targets"), [(29_001, 29_000), (29_000, 29_001), (1, 3), (3, 1)])
def test_files_of_different_lengths(tmp_path: Path, sources: int, targets: int) -> None:
    source, target = write(tmp_path / "train.de", b"x\n" * sources), write(tmp_path / "train.en", b"x\n" * targets)
    good = write(tmp_path / "good", b"x\n")
    lines = f"{sources:,} lines" if sources > 1 else "1 line"
    message = f"{source} has {lines} but {target} has {targets:,}; they must align line by line."
    assert error_of(AlignedFiles((source,), (target,))) == message
    assert error_of(AlignedFiles((good, source), (good, target))) == message


def test_files_that_are_empty(tmp_path: Path) -> None:
    empty, full = write(tmp_path / "empty.gz", b""), write(tmp_path / "full", b"x\n")
    for corpus in (
        AlignedFiles((empty,), (full,)),
        AlignedFiles((full,), (empty,)),
        AlignedFiles((empty,), (empty,)),
        TsvFile(empty),
        JsonLinesFile(empty, "source", "target"),
    ):
        assert error_of(corpus) == f"{empty} is empty; expected at least one line"
    assert error_of(TmxFile(empty, "en", "fr")) == f"{empty} is empty; expected at least one line"


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["a", "b"], ["c"], "2 source files but 1 target file; give each source file its target file"),
        ([], ["c"], "0 source files but 1 target file; give each source file its target file"),
        (["-"], ["-"], "standard input was given more than once; give the other texts as files"),
    ],
)
def test_files_that_cannot_be_a_corpus(sources: list[str], targets: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        AlignedFiles(tuple(map(Path, sources)), tuple(map(Path, targets)))


# TSV


def test_tsv(tmp_path: Path) -> None:
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS)
    for suffix in COMPRESS:
        path = write(tmp_path / f"train.tsv{suffix}", text.encode())
        corpus = TsvFile(path)
        assert list(corpus) == list(corpus) == PAIRS
        assert (str(corpus), corpus.paths) == (str(path), (path,))


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", b'7\t"a"\tb\tc\n8\td\te\n')
    assert list(TsvFile(path, (2, 1))) == [("b", '"a"'), ("e", "d")]
    assert error_of(TsvFile(path, (0, 3))) == f"{path}, line 2 has 3 columns; expected at least 4"
    assert str(TsvFile(path, (0, 3))) == f"{path} (columns 1, 4)"
    with pytest.raises(UserError, match="columns are counted from 0; got 0 and -1"):
        TsvFile(path, (0, -1))


def test_a_wrong_number_of_columns(tmp_path: Path) -> None:
    expected = "expected 2 (source, tab, target)"
    path = write(tmp_path / "train.tsv", b"a\tb\nc\td\te\n")
    remedy = "choose two with data.source_column and data.target_column"
    assert error_of(TsvFile(path)) == f"{path}, line 2 has 3 columns; {expected}; {remedy}"
    path = write(tmp_path / "train.tsv", b"a\tb\nc d\n")
    assert error_of(TsvFile(path)) == f"{path}, line 2 has 1 column; {expected}"


# JSON Lines


@given(pairs=st.lists(st.builds(Pair, TEXT, TEXT), min_size=1), ascii_only=st.booleans())
def test_json_lines_give_any_text(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair], ascii_only: bool
) -> None:
    records = [json.dumps({"id": 1, "en": pair.source, "fr": pair.target}, ensure_ascii=ascii_only) for pair in pairs]
    path = write(tmp_path_factory.mktemp("corpus") / "train.jsonl.gz", "\n".join(records).encode() + b"\n\n")
    corpus = JsonLinesFile(path, "en", "fr")
    assert list(corpus) == pairs
    assert str(corpus) == f"{path} (en, fr)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"source": "a" "target"}', ", column 16: invalid JSON: Expecting ',' delimiter"),
        ("not JSON", ", column 1: invalid JSON: Expecting value"),
        ('["a", "b"]', " is an array; expected an object, one a line"),
        ("null", " is null; expected an object, one a line"),
        ('"text"', " is a string; expected an object, one a line"),
        ('{"src": "a", "target": "b"}', " has no field source; it has src, target; name two of its fields with data."),
        ('{"source": "a", "fr": "b"}', " has no field target; it has source, fr"),
        ("{}", " has no field source; it has none"),
        ('{"source": 1.5, "target": "b"}', ": source is a number; expected a string"),
        ('{"source": "a", "target": null}', ": target is null; expected a string"),
        ('{"source": "a", "target": true}', ": target is true; expected a string"),
        ('{"source": "a", "target": {"text": "b"}}', ": target is an object; expected a string"),
        (
            '{"source": "a", "target": "\\ud83d"}',
            ": \\ud83d is half of a surrogate pair; expected both halves",
        ),
        ("", " is blank; remove it"),
        ("[" * 100_000, ": JSON that cannot be read: maximum recursion depth exceeded while decoding a JSON array"),
        ('{"source": ' + "9" * 5000 + "}", ": JSON that cannot be read: Exceeds the limit (4300 digits)"),
    ],
)
def test_json_that_is_no_pair(tmp_path: Path, line: str, message: str) -> None:
    good = '{"source": "a", "target": "b \\ud83d\\ude00"}'
    path = write(tmp_path / "train.jsonl", f"{good}\n{line}\n{good}\n".encode())
    assert error_of(JsonLinesFile(path, "source", "target")).startswith(f"{path}, line 2{message}")


# TMX


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "windows-1252"])
def test_tmx_in_the_encodings_that_programs_export(tmp_path: Path, suffix: str, encoding: str) -> None:
    declared = encoding.removesuffix("-sig").removesuffix("-le")
    text = memory(
        unit(("en", "the cat"), ("fr", "le chat")),
        unit(("fr", "été &amp; &lt;hiver&gt; &#233;"), ("en", "")),
        opening=f'<?xml version="1.0" encoding="{declared}"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n',
    )
    path = write(tmp_path / f"memory.tmx{suffix}", text.encode(encoding))
    corpus = TmxFile(path, "en", "fr")
    assert list(corpus) == list(corpus) == [("the cat", "le chat"), ("", "été & <hiver> é")]
    assert (str(corpus), corpus.paths, corpus.skipped) == (f"{path} (en to fr)", (path,), 0)


def test_languages_are_found_by_code(tmp_path: Path) -> None:
    corpus = tmx_file(
        tmp_path,
        unit(("EN-us", "colour?"), ("fr_CA", "un")),
        unit(("en-GB", "other"), ("en", "exact"), ("fr-FR", "deux"), ("FR", "exactement")),
        unit(("eng", "not English"), ("fr", "trois")),
        unit(("fr", "quatre")),
        '<tu><tuv lang="en"><seg>version 1.1</seg></tuv><tuv lang="fr"><prop>no</prop><seg>cinq</seg></tuv></tu>',
        "<tu><tuv><seg>no language</seg></tuv><tuv xml:lang='fr'><seg>six</seg></tuv></tu>",
    )
    assert list(corpus) == [("colour?", "un"), ("exact", "exactement"), ("version 1.1", "cinq")]
    assert corpus.skipped == 3
    list(corpus)
    assert corpus.skipped == 3, "each pass counts anew"


def test_a_segment_is_not_its_own_translation(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.tmx", memory(unit(("en-GB", "lift"), ("en-US", "elevator")), unit(("en-GB", "x"))).encode()
    )
    corpus = TmxFile(path, "en", "en-gb")
    assert list(corpus) == [("elevator", "lift")]
    assert corpus.skipped == 1


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('a <bpt i="1">&lt;b></bpt>bold<ept i="1">&lt;/b></ept> word', "a bold word"),
        ("<hi>high <hi>er</hi></hi>!", "high er!"),
        ("<ph>code <sub>with text</sub> code</ph>x<it pos='begin'>i</it><ut>u</ut>", "x"),
        ("\n      over\n      two  lines\t\n    ", "over two  lines"),
        ("  kept  as it\tis ", "  kept  as it\tis "),
        ("one \r\n two\u2028three\xa0\n\u3000four", "one two\u2028three\xa0 \u3000four"),
        ("<![CDATA[<b>]]>", "<b>"),
        ("", ""),
    ],
)
def test_markup_and_layout_in_segments(tmp_path: Path, segment: str, text: str) -> None:
    assert list(tmx_file(tmp_path, unit(("en", segment), ("fr", "x")))) == [(text, "x")]


def test_unknown_languages_are_listed_with_those_present(tmp_path: Path) -> None:
    corpus = tmx_file(tmp_path, unit(("en", "a"), ("de-DE", "b")), unit(("en", "a")), "<tu><tuv><seg/></tuv></tu>")
    assert error_of(corpus) == f"{corpus.path} has no segments in fr; it has en (2), de-DE (1), (no language) (1)"
    corpus = tmx_file(tmp_path, unit(("en", "a")), unit(("fr", "b")))
    assert error_of(corpus) == f"{corpus.path} has no unit in both en and fr; it has en (1), fr (1)"
    corpus = tmx_file(tmp_path, *[unit((f"x-{number}", "a")) for number in range(1025)])
    assert error_of(corpus).endswith("x-19 (1) and 1,005 more")
    assert error_of(tmx_file(tmp_path)) == f"{corpus.path} has no translation units; expected <tu> elements"


BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "boom"}">' for n in range(10))


@pytest.mark.parametrize(
    ("opening", "segment", "message"),
    [
        (f"<!DOCTYPE tmx [{BOMB}]>", "&e9;", "line 1, column 28: the file declares the entity e0, which"),
        ('<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;", "declares the entity x, which"),
        ('<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://a/x.dtd">%x;]>', "", "declares the entity x, which"),
        ('<!DOCTYPE tmx [<!NOTATION n SYSTEM "n"><!ENTITY x SYSTEM "a" NDATA n>]>', "", "declares the entity x, which"),
        ('<!DOCTYPE tmx SYSTEM "tmx14.dtd">', "&eacute;", "line 2, column 66: unknown entity &eacute;; write"),
        ("", "&eacute;", "invalid XML: undefined entity"),
        ('<?xml version="1.0" encoding="rot13"?>', "", "unknown encoding rot13; export the file as UTF-8 or UTF-16"),
        ('<?xml version="1.0" encoding="gb18030"?>', "", "unknown encoding gb18030; export"),
        ("", "<b>", "line 2, column 71: invalid XML: mismatched tag; export the file again"),
        ("", "\x01", "invalid XML: not well-formed (invalid token)"),
        ("", "&#xD800;", "invalid XML: reference to invalid character number"),
    ],
)
def test_xml_that_is_refused(tmp_path: Path, opening: str, segment: str, message: str) -> None:
    text = memory(unit(("fr", "x"), ("en", segment)), opening=opening)
    corpus = TmxFile(write(tmp_path / "memory.tmx", text.encode()), "en", "fr")
    assert error_of(corpus).startswith(f"{corpus.path}, line ")
    assert message in error_of(corpus)


@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDE00)], ids=["first", "second"])
@pytest.mark.parametrize("length", [0, 1 << 15])
def test_half_a_surrogate_pair_does_not_swallow_the_next_character(tmp_path: Path, half: str, length: int) -> None:
    text = "\ufeff" + memory(unit(("en", "x" * length + "\U0001f600" + half + "y"), ("fr", "x")), opening="")
    path = write(tmp_path / "memory.tmx", text.encode("utf-16-be", "surrogatepass"))
    offset = 2 * text.replace("\U0001f600", "xx").index(half)
    message = f"{path}: invalid UTF-16: half of a surrogate pair at offset {offset:,}; export the file as UTF-8"
    assert error_of(TmxFile(path, "en", "fr")) == message


def test_xml_that_is_no_tmx(tmp_path: Path) -> None:
    path = write(tmp_path / "page.tmx", b"<html><body/></html>")
    expected = f"{path}, line 1, column 1: the outermost element is <html>; expected <tmx>"
    assert error_of(TmxFile(path, "en", "fr")) == expected
    path.write_bytes(memory(unit(("en", "a"), ("fr", "b"))).encode()[:-20])
    assert "invalid XML: the file ends before all of its elements do" in error_of(TmxFile(path, "en", "fr"))


def test_segments_and_tags_without_an_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tmx, "LONGEST_LINE_BYTES", 1 << 20)
    corpus = tmx_file(tmp_path, unit(("en", "long " * (1 << 19))))
    assert error_of(corpus).endswith("a segment of more than 1 Mi characters; expected a sentence")
    corpus = tmx_file(tmp_path, f"<!-- {'long ' * (1 << 19)} -->")
    assert error_of(corpus).endswith("a tag or comment of more than 1 MiB; expected TMX")


# All of them


@pytest.mark.parametrize(
    "make",
    [
        lambda path: TsvFile(path),
        lambda path: TsvFile(path, (0, 1)),
        lambda path: TsvFile(path, (1, 0)),
        lambda path: JsonLinesFile(path, "a", "b"),
        lambda path: JsonLinesFile(path, "b", "a"),
        lambda path: TmxFile(path, "en", "fr"),
        lambda path: TmxFile(path, "fr", "en"),
        lambda path: AlignedFiles((path,), (path,)),
        lambda path: AlignedFiles((path, path), (path, path)),
    ],
)
def test_a_fingerprint_has_the_hash_of_every_file(tmp_path: Path, make: Callable[[Path], Corpus]) -> None:
    path = write(tmp_path / "some text", b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # what FIPS 180 has for these letters
    fingerprint = make(path).fingerprint()
    assert set(fingerprint.values()) == {known}
    assert len(fingerprint) == len(make(path).paths)
    assert all(name.startswith(str(path)) for name in fingerprint)
    path.write_bytes(b"abd")
    assert make(path).fingerprint().keys() == fingerprint.keys()
    assert set(make(path).fingerprint().values()).isdisjoint({known})


def test_a_fingerprint_tells_how_files_are_read(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", b"a\n"), write(tmp_path / "b", b"b\n")
    corpora: list[Corpus] = [
        AlignedFiles((a,), (b,)),
        AlignedFiles((b,), (a,)),
        AlignedFiles((a, b), (b, a)),
        AlignedFiles((b, a), (a, b)),
        TsvFile(a),
        TsvFile(a, (0, 2)),
        JsonLinesFile(a, "x", "y"),
        JsonLinesFile(a, "y", "x"),
        TmxFile(a, "en", "fr"),
        TmxFile(a, "fr", "en"),
    ]
    fingerprints = [corpus.fingerprint() for corpus in corpora]
    assert list(fingerprints[0]) == [f"{a} (source)", f"{b} (target)"]
    assert list(fingerprints[2]) == [f"{a} (source 1)", f"{b} (source 2)", f"{b} (target 1)", f"{a} (target 2)"]
    assert list(fingerprints[5]) == [f"{a} (columns 1, 3)"]
    assert all(fingerprints.count(each) == 1 for each in fingerprints)


def test_standard_input_has_no_fingerprint(tmp_path: Path) -> None:
    target = write(tmp_path / "b", b"b\n")
    with pytest.raises(UserError, match="standard input can be read only once, but a corpus to train on is read"):
        AlignedFiles((Path("-"),), (target,)).fingerprint()


FORMATS: dict[str, tuple[bytes, bytes]] = {
    "aligned": (b"", b"the cat\n"),
    "tsv": (b"", b"the cat\tle chat\n"),
    "jsonl": (b"", b'{"source": "the cat", "target": "le chat"}\n'),
    "tmx": (b"<tmx><body>", unit(("en", "the cat"), ("fr", "le chat")).encode()),
}


def corpus_of(kind: str, path: Path) -> Corpus:
    if kind == "aligned":
        return AlignedFiles((path,), (path,))
    makers: dict[str, Callable[[Path], Corpus]] = {
        "tsv": TsvFile,
        "jsonl": lambda path: JsonLinesFile(path, "source", "target"),
        "tmx": lambda path: TmxFile(path, "en", "fr"),
    }
    return makers[kind](path)


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "tmx"])
def test_pairs_come_while_the_file_is_still_being_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "endless"
    opening, record = FORMATS[kind]
    with endless_pipe(path, record, opening):
        assert list(islice(corpus_of(kind, path), 1000)) == [("the cat", "le chat")] * 1000


def test_aligned_files_are_read_side_by_side(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with endless_pipe(source, b"the cat\n"), endless_pipe(target, b"le chat\n"):
        assert list(islice(AlignedFiles((source,), (target,)), 1000)) == [("the cat", "le chat")] * 1000


@pytest.mark.parametrize("kind", FORMATS)
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, kind: str) -> None:
    peaks = []
    opening, record = FORMATS[kind]
    closing = b"</body></tmx>" if opening else b""
    for count in (20_000, 60_000):  # the fewer fill some blocks
        path = write(tmp_path / str(count), opening + record * count + closing)
        tracemalloc.start()
        assert sum(1 for _ in corpus_of(kind, path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] + 100_000


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("kind", FORMATS)
@given(data=st.binary())
def test_random_bytes_give_pairs_or_a_user_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, suffix: str, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    plain, packed = folder / f"plain{suffix}", write(folder / f"packed{suffix}", data)
    plain.write_bytes(data)
    for path in (plain, packed):
        with suppress(UserError):
            assert all(isinstance(text, str) for pair in corpus_of(kind, path) for text in pair)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_give_pairs_or_a_user_error(tmp_path: Path, kind: str, encoding: str) -> None:
    chance = random.Random(f"{kind} {encoding}")
    opening, record = FORMATS[kind]
    doctype = b'<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd" [<!ATTLIST tu a CDATA "b">]>' if opening else b""
    closing = b"</body></tmx>" if opening else b""
    whole = (doctype + opening + record * 3 + closing).decode().encode(encoding)
    for suffix, compress in (("", bytes), ("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress)):
        for _ in range(150):
            data = mutate(compress(whole), chance)
            path = tmp_path / f"fuzz{suffix}"
            path.write_bytes(data)
            with suppress(UserError):
                for pair in corpus_of(kind, path):
                    text = "".join(pair)
                    assert text.encode().decode() == text  # it can be written again


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, cut out, doubled or moved."""
    for _ in range(chance.randint(1, 4)):
        start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        end = min(end, start + 8)
        new = chance.choice([b"", chance.randbytes(1), data[start:end] * 2, b"&x;", b"<", b'"', b"\xd8\x00", b"\n"])
        data = data[:start] + new + data[end:]
    return data
