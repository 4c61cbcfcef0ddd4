"""The words of the built-in corpus: every noun, adjective, verb, name and time phrase in English, French and Chinese.

A word is one line of a table, its languages apart by `|`. To add a noun, add its line under its kind:

    cat | chat m | 猫 只

English first (an irregular plural after a slash), then French with its gender (and for people the feminine form that
*elle est ...* wants), then Chinese with its measure word. The kind says what verbs and adjectives may do with it.
A word of one language has one word in each other language, so that each sentence has one translation.
"""

from dataclasses import dataclass
from functools import cache, cached_property

from headway.text.builtin.conjugation import FrenchVerb, french_plural
from headway.text.builtin.tables import ADJECTIVES, NAMES, NOUNS, PLACES, TIMES, TOO, VERBS


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun: two English forms, two French forms with their gender, a Chinese word with its measure word."""

    kind: str
    group: str
    """The narrower kind, if its heading names a second one: *animal pet*."""
    en: str
    en_plural: str
    fr: str
    fr_plural: str
    gender: str
    fr_feminine: str
    zh: str
    measure: str

    @property
    def is_person(self) -> bool:
        """Whether *who*, *he* and *she* may stand for it."""
        return self.kind in PEOPLE


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective: its comparative in English, its four forms and its place in French, two uses in Chinese.

    `comparative` is empty if the word cannot be compared; `zh` (after the verb) or `zh_before` (before the noun) is
    empty if the word is not used in that place.
    """

    en: str
    comparative: str
    fr: tuple[str, str, str, str]
    """Masculine, feminine, masculine plural, feminine plural."""
    fr_before: bool
    fr_before_vowel: str
    has: bool
    """Whether French *has* it, as in *avoir faim*."""
    zh: str
    zh_before: str
    kinds: tuple[str, ...]
    can_be_too: bool

    def fits(self, noun: Noun) -> bool:
        """Whether the noun can be so."""
        return noun.kind in self.kinds or noun.en in self.kinds

    @property
    def is_graded(self) -> bool:
        """Whether *very* can stand before it; in Chinese such words take 很, the others 是 ... 的."""
        return not self.zh.startswith("是")


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb: English forms, the French conjugation and what follows it, a Chinese pattern, what it goes with.

    In the Chinese pattern `~` is where 了 and 过 go, `{}` where the object goes and `{i}` where the recipient goes.
    """

    en: str
    en_past: str
    en_participle: str
    en_ing: str
    en_tail: str
    fr: FrenchVerb
    fr_tail: str
    zh: str
    group: str
    objects: tuple[Noun, ...]

    @cached_property
    def en_third(self) -> str:
        """The form after he, she and it."""
        if self.en == "have":
            return "has"
        if self.en.endswith(("s", "sh", "ch", "x", "o")):
            return self.en + "es"
        if self.en.endswith("y") and self.en[-2] not in "aeiou":
            return self.en[:-1] + "ies"
        return self.en + "s"


@dataclass(frozen=True, eq=False)
class Name:
    """A first name, spelled the same in English and French."""

    en: str
    zh: str
    gender: str


@dataclass(frozen=True, eq=False)
class Fixed:
    """A phrase that never changes: a time, a city, a country."""

    kind: str
    en: str
    fr: str
    zh: str


PEOPLE = ("worker", "adult", "child", "kin")


def _rows(table: str) -> list[tuple[str, list[str]]]:
    """The rows of a table as (heading, cells); a line without `|` is the heading of the lines after it."""
    rows, heading = [], ""
    for line in table.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 1:
            heading = cells[0] or heading
        else:
            rows.append((heading, cells))
    return rows


def _english_plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _noun(heading: str, cells: list[str]) -> Noun:
    kind, *groups = heading.split()
    english, french, chinese = cells
    en, _, en_plural = english.partition("/")
    words = french.split()
    at = max(i for i, word in enumerate(words) if word in ("m", "f"))
    fr, _, fr_plural = " ".join(words[:at]).partition("/")
    zh, measure = chinese.split()
    return Noun(
        kind=kind,
        group=groups[0] if groups else "",
        en=en,
        en_plural=en_plural or _english_plural(en),
        fr=fr,
        fr_plural=fr_plural or french_plural(fr),
        gender=words[at],
        fr_feminine=" ".join(words[at + 1 :]) or fr,
        zh=zh,
        measure=measure,
    )


def _feminine(word: str) -> str:
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère"), ("on", "onne"), ("en", "enne"), ("e", "e")):
        if word.endswith(ending):
            return word[: -len(ending)] + feminine
    return word + "e"


def _adjective(heading: str, cells: list[str]) -> Adjective:
    english, french, chinese, kinds = cells
    en, _, comparative = english.partition("/")
    before = heading == "before"
    forms = [french] * 4
    if heading not in ("fixed", "has"):
        masculine, *feminine = french.split()
        feminines = feminine or [_feminine(masculine)]
        forms = [masculine, feminines[0], french_plural(masculine), french_plural(feminines[0])]
    zh, zh_before = chinese.split()
    return Adjective(
        en=en,
        comparative="" if comparative == "-" else comparative or f"more {en}",
        fr=(forms[0], forms[1], forms[2], forms[3]),
        fr_before=before,
        fr_before_vowel={"beau": "bel", "vieux": "vieil", "nouveau": "nouvel"}.get(forms[0], forms[0]),
        has=heading == "has",
        zh=zh.strip("-"),
        zh_before=zh_before.strip("-"),
        kinds=tuple(kinds.split()),
        can_be_too=en in TOO.split(),
    )


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _verb(group: str, cells: list[str]) -> Verb:
    english, french, chinese, *objects = cells
    head, _, tail = english.partition(" ")
    base, *irregular = head.split("/")
    past, participle, ing, *_ = irregular + [""] * 3
    fr, fr_tail = FrenchVerb.parse(french)
    if "~" not in chinese:
        chinese += "~"
    if objects and "{}" not in chinese:
        chinese += "{}"
    return Verb(
        en=base,
        en_past=past or _regular_past(base),
        en_participle=participle or past or _regular_past(base),
        en_ing=ing or (base[:-1] if base.endswith("e") and base != "see" else base) + "ing",
        en_tail=tail,
        fr=fr,
        fr_tail=fr_tail,
        zh=chinese,
        group=group,
        objects=tuple(noun for name in objects for noun in select(name)),
    )


def select(names: str) -> list[Noun]:
    """The nouns meant by a list of kinds and English nouns, apart by commas."""
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in _BY_KIND and name not in _BY_NAME]
    assert not unknown, f"no such kind or noun: {unknown}"
    return [noun for name in wanted for noun in _BY_KIND.get(name) or [_BY_NAME[name]]]


NOUN_LIST = [_noun(kind, cells) for kind, cells in _rows(NOUNS)]
_BY_NAME = {noun.en: noun for noun in NOUN_LIST}
_KINDS = dict.fromkeys(kind for noun in NOUN_LIST for kind in (noun.kind, noun.group) if kind)
_BY_KIND = {kind: [noun for noun in NOUN_LIST if kind in (noun.kind, noun.group)] for kind in _KINDS}

ADJECTIVE_LIST = [_adjective(heading, cells) for heading, cells in _rows(ADJECTIVES)]
VERB_LIST = [_verb(group, cells) for group, cells in _rows(VERBS)]
NAME_LIST = [Name(cells[0], cells[1], gender) for gender, cells in _rows(NAMES)]
TIME_LIST = [Fixed(kind, *cells) for kind, cells in _rows(TIMES)]
PLACE_LIST = [Fixed(kind, *cells) for kind, cells in _rows(PLACES)]


@cache
def verbs(group: str) -> list[Verb]:
    """The verbs of a group."""
    return [verb for verb in VERB_LIST if verb.group == group]


@cache
def times(kind: str) -> list[Fixed]:
    """The time phrases of a kind: past, future, habit, now."""
    return [time for time in TIME_LIST if time.kind == kind]


@cache
def qualities(noun: Noun) -> list[Adjective]:
    """The adjectives that can follow *is* when this noun is the subject."""
    return [adjective for adjective in ADJECTIVE_LIST if adjective.zh and adjective.fits(noun)]


@cache
def attributes(noun: Noun) -> list[Adjective]:
    """The adjectives that can stand beside this noun; not 老 before 老虎."""
    fitting = [adjective for adjective in ADJECTIVE_LIST if adjective.zh_before and adjective.fits(noun)]
    return [adjective for adjective in fitting if not noun.zh.startswith(adjective.zh_before)]


def noun(english: str) -> Noun:
    """The noun with this English singular."""
    return _BY_NAME[english]


@cache
def adjective(english: str, kind: str = "") -> Adjective:
    """The adjective with this English form (for this kind of noun, where two share the form)."""
    return next(a for a in ADJECTIVE_LIST if a.en == english and (not kind or kind in a.kinds))


@cache
def verb(english: str) -> Verb:
    """The verb with this English base form (and what follows it, as in *look for*)."""
    return next(v for v in VERB_LIST if f"{v.en} {v.en_tail}".strip() == english)
