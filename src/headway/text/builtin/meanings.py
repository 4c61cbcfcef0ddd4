"""What a sentence means, before it has words: the nodes that `constructions.py` draws and the renderers read.

A noun phrase is a `Pronoun`, a `Name` or a `Phrase`; a `Clause` says something of a subject; a meaning is a clause, or
one of the nodes at the end of this page. Nothing here belongs to one language.
"""

from dataclasses import dataclass

from headway.text.builtin.lexicon import Adjective, Fixed, Name, Noun, Verb


@dataclass(frozen=True, eq=False, slots=True)
class Pronoun:
    """A personal pronoun. `person` counts from 0: je, tu, il or elle, nous, vous, ils."""

    person: int
    gender: str
    en: tuple[str, str, str]
    """Subject, object, possessive."""
    fr: str
    fr_strong: str
    zh: str

    @property
    def is_plural(self) -> bool:
        """Whether it stands for several."""
        return self.person > 2


I = Pronoun(0, "m", ("I", "me", "my"), "je", "moi", "我")  # noqa: E741
YOU = Pronoun(1, "m", ("you", "you", "your"), "tu", "toi", "你")
HE = Pronoun(2, "m", ("he", "him", "his"), "il", "lui", "他")
SHE = Pronoun(2, "f", ("she", "her", "her"), "elle", "elle", "她")
WE = Pronoun(3, "m", ("we", "us", "our"), "nous", "nous", "我们")
THEY = Pronoun(5, "m", ("they", "them", "their"), "ils", "eux", "他们")
THEY_WOMEN = Pronoun(5, "f", ("they", "them", "their"), "elles", "elles", "她们")
IT = {
    "m": Pronoun(2, "m", ("it", "it", "its"), "il", "lui", "它"),
    "f": Pronoun(2, "f", ("it", "it", "its"), "elle", "elle", "它"),
}
THINGS = {
    "m": Pronoun(5, "m", ("they", "them", "their"), "ils", "eux", "它们"),
    "f": Pronoun(5, "f", ("they", "them", "their"), "elles", "elles", "它们"),
}
WHO = Pronoun(2, "m", ("who", "who", "whose"), "qui", "qui", "谁")


@dataclass(frozen=True, eq=False, slots=True)
class Phrase:
    """A noun with what stands around it.

    `article` is one of: the, a, this, some, count (a number), owned, mass (an amount left open), generic (all there
    is of it, after *like*), place (a place one goes to), none (the *a* that French drops after a negation).
    """

    noun: Noun
    article: str = "the"
    plural: bool = False
    count: int = 0
    adjective: Adjective | None = None
    owner: "Pronoun | Name | Phrase | None" = None
    relative: "Relative | None" = None


Nominal = Pronoun | Name | Phrase


@dataclass(frozen=True, eq=False, slots=True)
class Relative:
    """A relative clause in the past: *who found the key* (no subject), *that I found* (a subject, no object)."""

    subject: Nominal | None
    verb: Verb
    object: Nominal | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Relation:
    """A preposition of place."""

    en: str
    fr: str
    zh: str


@dataclass(frozen=True, eq=False, slots=True)
class Spot:
    """A place by its relation to a noun: *under the table*; or a city or a country."""

    relation: Relation | None
    ground: Noun | Fixed


@dataclass(frozen=True, eq=False, slots=True)
class Action:
    """A verb with its object, and for *give* its recipient."""

    verb: Verb
    object: Nominal | None = None
    recipient: Nominal | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Quality:
    """Being so: `degree` is empty, very, too, or not very."""

    adjective: Adjective
    degree: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """Being more so than another, as much (as) or not as much (less)."""

    adjective: Adjective
    how: str
    other: Nominal


@dataclass(frozen=True, eq=False, slots=True)
class Role:
    """Being a doctor."""

    noun: Noun


@dataclass(frozen=True, eq=False, slots=True)
class Located:
    """Being somewhere."""

    spot: Spot


@dataclass(frozen=True, eq=False, slots=True)
class Age:
    """Being so many years old."""

    years: int


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """Coming from a country."""

    country: Fixed


Predicate = Action | Quality | Comparison | Role | Located | Age | Origin


@dataclass(frozen=True, eq=False, slots=True)
class Clause:
    """A subject and what is said of it.

    `tense` is present, progressive, past, future or perfect; a perfect clause says *already*, or *never* if negative.
    """

    subject: Nominal
    predicate: Predicate
    tense: str = "present"
    negative: bool = False
    modal: str = ""
    time: Fixed | None = None
    clock: int = 0
    adverb: Fixed | None = None
    spot: Spot | None = None
    fronted: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Weather:
    """*It is raining in Paris.* `kind` is rain, snow, hot, cold, nice or windy; `tense` may be bare, after *if*."""

    kind: str
    tense: str
    place: Fixed | None = None
    time: Fixed | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A question about a clause: `word` is empty for yes or no, else who, what, where, when or why."""

    clause: Clause
    word: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Where:
    """*Where is the dog?*"""

    subject: Phrase


@dataclass(frozen=True, eq=False, slots=True)
class Amount:
    """A question about a noun: `word` is how many (which she has), which (she prefers), whose or how much (this is)."""

    word: str
    noun: Noun
    subject: Nominal | None = None
    adjective: Adjective | None = None
    plural: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Command:
    """*Open the door, please.* `kind` is please, don't or let's."""

    kind: str
    action: Action
    time: Fixed | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Existence:
    """*There is a cat under the table.*"""

    phrase: Phrase
    spot: Spot
    negative: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Exclamation:
    """*What a beautiful house!* or, said of this one, *How beautiful this house is!*"""

    noun: Noun
    adjective: Adjective
    this: bool = False
    plural: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Preference:
    """*I prefer tea to coffee.*"""

    subject: Nominal
    better: Noun
    worse: Noun


@dataclass(frozen=True, eq=False, slots=True)
class Joined:
    """Two clauses and their link: and, but, so, because, when, if, says or thinks."""

    link: str
    first: Clause | Weather
    second: Clause
    speaker: Nominal | None = None


Meaning = Clause | Weather | Question | Where | Amount | Command | Existence | Exclamation | Preference | Joined


def person(nominal: Nominal) -> int:
    """The person a verb agrees with: 0 to 5, as in `Pronoun`."""
    if isinstance(nominal, Pronoun):
        return nominal.person
    return 5 if is_plural(nominal) else 2


def is_plural(nominal: Nominal) -> bool:
    """Whether it stands for several."""
    return not isinstance(nominal, Name) and (nominal.is_plural if isinstance(nominal, Pronoun) else nominal.plural)


def gender(nominal: Nominal) -> str:
    """Its French gender."""
    return nominal.noun.gender if isinstance(nominal, Phrase) else nominal.gender


def is_human(nominal: Nominal) -> bool:
    """Whether it stands for people."""
    return (
        nominal.noun.is_person if isinstance(nominal, Phrase) else isinstance(nominal, Name) or "它" not in nominal.zh
    )


def pronoun_for(nominal: Nominal) -> Pronoun:
    """The pronoun that takes it up again."""
    if isinstance(nominal, Pronoun):
        return nominal
    if is_human(nominal):
        women = gender(nominal) == "f"
        return (THEY_WOMEN if women else THEY) if is_plural(nominal) else (SHE if women else HE)
    return (THINGS if is_plural(nominal) else IT)[gender(nominal)]
