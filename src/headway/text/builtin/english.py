"""Meaning to English."""

from functools import cache

from headway.text.builtin.lexicon import Fixed, Name, Verb
from headway.text.builtin.meanings import (
    WHO,
    Action,
    Age,
    Amount,
    Clause,
    Command,
    Comparison,
    Exclamation,
    Existence,
    Joined,
    Located,
    Meaning,
    Nominal,
    Origin,
    Phrase,
    Predicate,
    Preference,
    Pronoun,
    Quality,
    Question,
    Relative,
    Role,
    Spot,
    Weather,
    Where,
    is_human,
    person,
)

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty"}
_MODALS = {"can": "can", "must": "must", "should": "should", "want": "want", "need": "need", "like": "like"}
_NEGATIVE = {"will": "won't", "can": "can't", "am": "am not", "should": "shouldn't"}


def sentence(meaning: Meaning) -> str:
    """The meaning as an English sentence."""
    match meaning:
        case Question() | Where() | Amount():
            text = _question(meaning) + "?"
        case Command():
            text = _command(meaning)
        case Exclamation(noun, adjective, True, plural):
            these, be = ("these", "are") if plural else ("this", "is")
            text = f"how {adjective.en} {these} {noun.en_plural if plural else noun.en} {be}!"
        case Exclamation(noun, adjective):
            text = f"what {_with_article(adjective.en)} {noun.en}!"
        case Existence(phrase, spot, negative):
            verb = ("are" if phrase.plural else "is") + (" no" if negative else "")
            words = phrase.noun.en if negative else nominal(phrase)
            text = f"there {verb} {words} {_spot(spot)}."
        case Preference(subject, better, worse):
            text = f"{nominal(subject)} {'prefers' if person(subject) == 2 else 'prefer'} {better.en} to {worse.en}."
        case Joined():
            text = _joined(meaning) + "."
        case _:
            text = clause(meaning) + "."
    return text[0].upper() + text[1:]


def nominal(meant: Nominal, case: int = 0) -> str:
    """A noun phrase; `case` is 0 for a subject, 1 for an object."""
    if isinstance(meant, Pronoun):
        return meant.en[case]
    if isinstance(meant, Name):
        return meant.en
    words = meant.noun.en_plural if meant.plural else meant.noun.en
    if meant.adjective:
        words = f"{meant.adjective.en} {words}"
    words = _determined(meant, words)
    return f"{words} {_relative(meant.relative, meant)}" if meant.relative else words


def _determined(phrase: Phrase, words: str) -> str:
    """The words of a noun with their article, number or owner."""
    match phrase.article:
        case "a" | "none":
            return _with_article(words)
        case "count":
            return f"{NUMBERS[phrase.count]} {words}"
        case "this":
            return f"{'these' if phrase.plural else 'this'} {words}"
        case "owned":
            assert phrase.owner
            owner = phrase.owner
            return f"{owner.en[2] if isinstance(owner, Pronoun) else nominal(owner) + chr(39) + 's'} {words}"
        case "mass" | "generic":
            return words
        case "some":
            return f"some {words}"
        case _:
            return f"the {words}"


def _with_article(words: str) -> str:
    vowel = words[0] in "aeiou" and not words.startswith("uni") and not words.startswith("useful")
    return f"{'an' if vowel else 'a'} {words}"


def _relative(relative: Relative, phrase: Phrase) -> str:
    verb = relative.verb
    if relative.subject is None:
        assert relative.object
        who = "who" if is_human(phrase) else "that"
        return _words(who, verb.en_past, verb.en_tail, nominal(relative.object, 1))
    return _words("that", nominal(relative.subject), verb.en_past, verb.en_tail)


def clause(meant: Clause | Weather) -> str:
    """A clause in the order of a statement."""
    if isinstance(meant, Weather):
        return _weather(meant)
    head, rest = _verb_group(meant)
    if meant.adverb:
        rest, head = (
            (f"{meant.adverb.en} {rest}".strip(), head) if _is_be(meant) else (rest, f"{meant.adverb.en} {head}")
        )
    words = _words(nominal(meant.subject), head, rest, _predicate(meant.predicate), _spot(meant.spot), _clock(meant))
    if not meant.time:
        return words
    return f"{meant.time.en}, {words}" if meant.fronted else f"{words} {meant.time.en}"


def _is_be(meant: Clause) -> bool:
    return not isinstance(meant.predicate, Action | Origin)


@cache
def _be(who: int, tense: str) -> str:
    if tense == "past":
        return "was" if who in (0, 2) else "were"
    return "am" if who == 0 else "is" if who == 2 else "are"


def _negated(word: str, negative: bool) -> str:
    return _NEGATIVE.get(word, word + "n't") if negative else word


def _verb_group(meant: Clause) -> tuple[str, str]:
    """The word that carries the tense, and the verb forms after it."""
    who, negative = person(meant.subject), meant.negative
    verb = meant.predicate.verb if isinstance(meant.predicate, Action) else None
    if isinstance(meant.predicate, Origin):
        return ("comes" if who == 2 else "come"), ""
    base = verb.en if verb else "be"
    if meant.modal in ("want", "need", "like"):
        third = meant.modal + "s" if who == 2 else meant.modal
        return (_negated(_do(who), True), f"{meant.modal} to {base}") if negative else (third, f"to {base}")
    if meant.modal or meant.tense == "future":
        return _negated(_MODALS.get(meant.modal, "will"), negative), base
    if verb is None:
        return _negated(_be(who, meant.tense), negative), ""
    return _tensed(verb, meant.tense, who, negative)


def _do(who: int) -> str:
    return "does" if who == 2 else "do"


def _tensed(verb: Verb, tense: str, who: int, negative: bool) -> tuple[str, str]:
    match tense:
        case "progressive":
            return _negated(_be(who, "present"), negative), verb.en_ing
        case "perfect":
            return ("has" if who == 2 else "have"), f"{'never' if negative else 'already'} {verb.en_participle}"
        case "past":
            return ("didn't", verb.en) if negative else (verb.en_past, "")
        case _:
            return (_negated(_do(who), True), verb.en) if negative else (verb.en_third if who == 2 else verb.en, "")


def _predicate(predicate: Predicate) -> str:
    """What follows the verb."""
    match predicate:
        case Action(verb, meant, recipient):
            words = _words(verb.en_tail, nominal(meant, 1) if meant else "")
            if recipient is None:
                return words
            to = nominal(recipient, 1)
            return f"{to} {words}" if isinstance(recipient, Pronoun) else f"{words} to {to}"
        case Quality(adjective, degree):
            return _words(degree, adjective.en)
        case Comparison(adjective, how, other):
            than = nominal(other, 1)
            return f"{adjective.comparative} than {than}" if how == "more" else f"as {adjective.en} as {than}"
        case Role(noun):
            return _with_article(noun.en)
        case Located(spot):
            return _spot(spot)
        case Age(years):
            return f"{number(years)} years old"
        case Origin(country):
            return f"from {country.en}"


def number(n: int) -> str:
    """A number in words, up to 69."""
    if n < len(NUMBERS):
        return NUMBERS[n]
    if n < 20:
        return ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"][n - 13]
    return _TENS[n // 10 * 10] + (f"-{NUMBERS[n % 10]}" if n % 10 else "")


def _spot(spot: Spot | None) -> str:
    if spot is None:
        return ""
    if isinstance(spot.ground, Fixed):
        return f"in {spot.ground.en}"
    assert spot.relation
    return f"{spot.relation.en} the {spot.ground.en}"


def _clock(meant: Clause) -> str:
    return f"at {NUMBERS[meant.clock]} o'clock" if meant.clock else ""


def _weather(weather: Weather) -> str:
    kind, tense = weather.kind, weather.tense
    if kind in ("rain", "snow"):
        words = {"past": f"it {kind}ed", "future": f"it will {kind}", "bare": f"it {kind}s"}.get(
            tense, f"it is {kind}ing"
        )
    else:
        subject = "the weather" if kind == "nice" else "it"
        words = f"{subject} { {'past': 'was', 'future': 'will be'}.get(tense, 'is') } {kind}"
    return _words(words, f"in {weather.place.en}" if weather.place else "", weather.time.en if weather.time else "")


def _question(meant: Question | Where | Amount) -> str:
    match meant:
        case Where(subject):
            return f"where {'are' if subject.plural else 'is'} {nominal(subject)}"
        case Amount("how many", noun, subject):
            assert subject
            return f"how many {noun.en_plural} {_do(person(subject))} {nominal(subject)} have"
        case Amount("which", noun, subject):
            assert subject
            return f"which {noun.en} {_do(person(subject))} {nominal(subject)} prefer"
        case Amount(word, noun, _, adjective, plural):
            words = _words(adjective.en if adjective else "", noun.en_plural if plural else noun.en)
            if word == "whose":
                return f"whose {words} {'are these' if plural else 'is this'}"
            return f"how much {'do these' if plural else 'does this'} {words} cost"
        case Question(asked, word):
            return _asked(asked, word)
    raise AssertionError(meant)


def _asked(asked: Clause, word: str) -> str:
    if asked.subject is WHO:
        return clause(asked)
    head, rest = _verb_group(asked)
    if not _is_be(asked) and not rest:  # do-support
        assert isinstance(asked.predicate, Action)
        head, rest = ("did" if asked.tense == "past" else _do(person(asked.subject))), asked.predicate.verb.en
    elif rest.split()[-2:-1] == ["to"] and not asked.negative:
        head, rest = _do(person(asked.subject)), f"{asked.modal} {rest}"
    time = asked.time.en if asked.time else ""
    tail = _words(_predicate(asked.predicate), _spot(asked.spot), _clock(asked), time)
    return _words(word, head, nominal(asked.subject), rest, tail)


def _command(command: Command) -> str:
    verb, time = command.action.verb, command.time.en if command.time else ""
    words = _words(verb.en, _predicate(command.action), time)
    match command.kind:
        case "please":
            return f"{words}, please."
        case "don't":
            return f"don't {words}!"
        case _:
            return f"let's {words}."


def _joined(joined: Joined) -> str:
    first, second = clause(joined.first), clause(joined.second)
    match joined.link:
        case "and" | "but" | "so":
            return f"{first}, {joined.link} {second}"
        case "because":
            return f"{first} because {second}"
        case "says" | "thinks":
            assert joined.speaker
            verb = joined.link if person(joined.speaker) == 2 else joined.link.removesuffix("s")
            return f"{nominal(joined.speaker)} {verb} that {second}"
        case link:
            return f"{link} {first}, {second}"


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)
