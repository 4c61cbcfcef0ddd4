"""Meaning to French; `french_phrases.py` has the noun phrases and the spelling."""

from dataclasses import replace

from headway.text.builtin.conjugation import FrenchVerb, conjugate
from headway.text.builtin.french_phrases import (
    NUMBERS,
    adjective_form,
    definite_article,
    nominal,
    noun_group,
    number,
    participle_form,
    spell,
)
from headway.text.builtin.lexicon import Fixed
from headway.text.builtin.meanings import (
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
    Role,
    Spot,
    Weather,
    Where,
    gender,
    is_plural,
    person,
)

_BE, _HAVE, _COME, _DO, _SAY = map(conjugate, ("être", "avoir", "venir", "faire", "dire"))
_WANT, _CAN, _MUST, _LIKE, _THINK, _PREFER = map(
    conjugate, ("vouloir", "pouvoir", "devoir", "aimer", "penser", "préférer")
)
_SHOULD = ("devrais", "devrais", "devrait", "devrions", "devriez", "devraient")
_CLITICS = {0: ("me_", "me_"), 1: ("te_", "te_"), 3: ("nous", "nous"), 5: ("les_", "leur")}
_REFLEXIVE = ("me_", "te_", "se_", "nous", "vous", "se_")
_DEGREES = {"": [], "very": ["très"], "too": ["trop"]}


def sentence(meaning: Meaning) -> str:
    """The meaning as a French sentence."""
    match meaning:
        case Question() | Where() | Amount():
            text = spell(_question(meaning)) + " ?"
        case Command():
            text = _command(meaning)
        case Exclamation(noun, adjective, True, plural):
            form = adjective_form(adjective, noun.gender == "f", plural)
            text = spell(["que", *nominal(Phrase(noun, "this", plural)), "sont" if plural else "est", form]) + " !"
        case Exclamation(noun, adjective):
            what = "quel" if noun.gender == "m" else "quelle"
            text = spell([what, *noun_group(noun, adjective, plural=False)]) + " !"
        case Existence(phrase, spot, negative):
            there = (
                ["il", "ne", "y", "a", "pas", "de", phrase.noun.fr] if negative else ["il", "y", "a", *nominal(phrase)]
            )
            text = spell([*there, *_spot(spot)]) + "."
        case Preference(subject, better, worse):
            verb = _PREFER.present[person(subject)]
            text = (
                spell(
                    [
                        *nominal(subject),
                        verb,
                        definite_article(better),
                        better.fr,
                        "à",
                        definite_article(worse),
                        worse.fr,
                    ]
                )
                + "."
            )
        case Joined():
            text = spell(_joined(meaning)) + "."
        case _:
            text = spell(clause(meaning)) + "."
    return text[0].upper() + text[1:]


def clause(meant: Clause | Weather) -> list[str]:
    """A clause in the order of a statement."""
    if isinstance(meant, Weather):
        return _weather(meant)
    words = [*nominal(meant.subject), *_verb_group(meant), *_predicate(meant), *_spot(meant.spot), *_clock(meant)]
    if not meant.time:
        return words
    return [meant.time.fr + ",", *words] if meant.fronted else [*words, meant.time.fr]


def _clitics(action: Action) -> list[str]:
    """The object pronouns that stand before the verb."""
    if isinstance(action.recipient, Pronoun):
        return [_clitic(action.recipient, direct=False)]
    if isinstance(action.object, Pronoun):
        return [_clitic(action.object, direct=action.verb.fr_tail != "à")]
    return []


def _clitic(pronoun: Pronoun, direct: bool) -> str:
    if pronoun.person == 2:
        return "lui" if not direct else "le_" if pronoun.gender == "m" else "la_"
    return _CLITICS[pronoun.person][0 if direct else 1]


def _verb_group(meant: Clause) -> list[str]:
    """Everything from *ne* to the last verb form."""
    action = meant.predicate if isinstance(meant.predicate, Action) else None
    verb = action.verb.fr if action else _copula(meant.predicate)
    who = person(meant.subject)
    before = ([_REFLEXIVE[who]] if verb.reflexive else []) + (_clitics(action) if action else [])
    adverb = [meant.adverb.fr] if meant.adverb else []
    if meant.modal:
        head, link = _modal(meant.modal, who)
        return [*_around([], head, meant.negative), *link, *before, verb.infinitive]
    tense = "present" if action and action.verb.group == "wear" else meant.tense
    match tense:
        case "progressive":
            return [*_around([], _BE.present[who], meant.negative), "en", "train", "de", *before, verb.infinitive]
        case "past" | "perfect" if action:
            return _compound(meant, action, before)
        case "past":
            return _around(before, verb.imperfect[who], meant.negative) + adverb
        case "future":
            return _around(before, verb.future[who], meant.negative) + adverb
        case _:
            return _around(before, verb.present[who], meant.negative) + adverb


def _copula(predicate: Predicate) -> FrenchVerb:
    match predicate:
        case Age():
            return _HAVE
        case Quality(adjective) | Comparison(adjective) if adjective.has:
            return _HAVE
        case Origin():
            return _COME
        case _:
            return _BE


def _modal(modal: str, who: int) -> tuple[str, list[str]]:
    """The form of a modal verb, and what links it to the infinitive."""
    match modal:
        case "should":
            return _SHOULD[who], []
        case "need":
            return _HAVE.present[who], ["besoin", "de"]
        case _:
            return {"can": _CAN, "must": _MUST, "want": _WANT, "like": _LIKE}[modal].present[who], []


def _around(before: list[str], head: str, negative: bool, no: str = "pas") -> list[str]:
    """*ne* and *pas* around the clitics and the verb."""
    return ["ne", *before, head, no] if negative else [*before, head]


def _compound(meant: Clause, action: Action, before: list[str]) -> list[str]:
    """The passé composé, its participle agreeing with the subject after être, with a clitic before it after avoir."""
    verb, who = action.verb.fr, person(meant.subject)
    perfect = meant.tense == "perfect"
    head = (_BE if verb.with_be else _HAVE).present[who]
    words = _around(before, head, meant.negative, "jamais" if perfect else "pas")
    already = ["déjà"] if perfect and not meant.negative else []
    governor: Nominal | None = None
    if verb.with_be and not (verb.reflexive and action.verb.fr_tail):
        governor = meant.subject
    elif isinstance(action.object, Pronoun) and action.verb.fr_tail != "à":
        governor = action.object
    participle = (
        participle_form(verb.participle, gender(governor) == "f", is_plural(governor)) if governor else verb.participle
    )
    return [*words, *already, participle]


def _predicate(meant: Clause) -> list[str]:
    """What follows the verb."""
    feminine, plural = gender(meant.subject) == "f", is_plural(meant.subject)
    match meant.predicate:
        case Action() as action:
            return _objects(action, meant.negative)
        case Quality(adjective, degree):
            return [*_DEGREES[degree], adjective_form(adjective, feminine, plural)]
        case Comparison(adjective, how, other):
            than = [other.fr_strong] if isinstance(other, Pronoun) else nominal(other)
            return ["plus" if how == "more" else "aussi", adjective_form(adjective, feminine, plural), "que", *than]
        case Role(noun):
            return [noun.fr_feminine if feminine else noun.fr]
        case Located(spot):
            return _spot(spot)
        case Age(years):
            return [number(years), "ans"]
        case Origin(country):
            article, _, name = country.fr.replace("'", " ").partition(" ")
            return ["de", "le", name] if article == "le" else ["de", name]
    return []


def _objects(action: Action, negative: bool) -> list[str]:
    words = [] if action.verb.fr_tail == "à" and isinstance(action.object, Pronoun) else action.verb.fr_tail.split()
    if isinstance(action.object, Phrase) and negative and action.object.article == "mass":
        words += nominal(replace(action.object, article="none"))
    elif action.object and not isinstance(action.object, Pronoun):
        words += nominal(action.object)
    if action.recipient and not isinstance(action.recipient, Pronoun):
        words += ["à", *nominal(action.recipient)]
    return words


def _spot(spot: Spot | None) -> list[str]:
    if spot is None:
        return []
    if isinstance(spot.ground, Fixed):
        return _in(spot.ground)
    assert spot.relation
    return [*spot.relation.fr.split(), definite_article(spot.ground), spot.ground.fr]


def _in(place: Fixed) -> list[str]:
    """À Paris, au Japon, en France."""
    article, _, name = place.fr.replace("'", " ").partition(" ")
    if place.kind == "city":
        return ["à", place.fr]
    return ["à", "le", name] if article == "le" else ["en", name]


def _clock(meant: Clause) -> list[str]:
    if not meant.clock:
        return []
    if meant.clock == 12:
        return ["à", "midi"]
    return ["à", "une" if meant.clock == 1 else NUMBERS[meant.clock], "heure" if meant.clock == 1 else "heures"]


def _weather(weather: Weather) -> list[str]:
    tense = weather.tense
    place = _in(weather.place) if weather.place else []
    time = [weather.time.fr] if weather.time else []
    if weather.kind in ("rain", "snow"):
        verb = conjugate("pleuvoir" if weather.kind == "rain" else "neiger")
        words = (
            ["a", verb.participle] if tense == "past" else [verb.future[2] if tense == "future" else verb.present[2]]
        )
        return ["il", *words, *place, *time]
    verb = _HAVE if weather.kind == "windy" else _DO
    head = {"past": verb.imperfect, "future": verb.future}.get(tense, verb.present)[2]
    rest = {"windy": ["du", "vent"], "hot": ["chaud"], "cold": ["froid"], "nice": ["beau"]}[weather.kind]
    return ["il", *(["y"] if weather.kind == "windy" else []), head, *rest, *place, *time]


def _question(meant: Question | Where | Amount) -> list[str]:
    match meant:
        case Where(subject):
            return ["où", "sont" if subject.plural else "est", *nominal(subject)]
        case Amount("how many", noun, subject):
            assert subject
            have = _HAVE.present[person(subject)]
            return ["combien", "de", noun.fr_plural, "est-ce", "que", *nominal(subject), have]
        case Amount("which", noun, subject):
            assert subject
            which, prefer = "quel" if noun.gender == "m" else "quelle", _PREFER.present[person(subject)]
            return [which, noun.fr, "est-ce", "que", *nominal(subject), prefer]
        case Amount(word, noun, _, adjective, plural):
            this = nominal(Phrase(noun, "this", plural, adjective=adjective))
            if word == "whose":
                return ["à", "qui", "sont" if plural else "est", *this]
            return ["combien", "coûtent" if plural else "coûte", *this]
        case Question(asked, word):
            if word == "who":
                return clause(asked)
            ask = {"": ["est-ce"], "what": ["qu'est-ce"], "where": ["où", "est-ce"], "when": ["quand", "est-ce"]}
            return [*ask.get(word, ["pourquoi", "est-ce"]), "que", *clause(asked)]
    raise AssertionError(meant)


def _command(command: Command) -> str:
    action = command.action
    time = [command.time.fr] if command.time else []
    head = action.verb.fr.command(3 if command.kind == "let's" else 1)
    match command.kind:
        case "please":
            return spell([head, *_objects(action, False), *time]) + ", s'il te plaît."
        case "don't":
            return spell(["ne", *_clitics(action), head, "pas", *_objects(action, True), *time]) + " !"
        case _:
            return spell([head, *_objects(action, False), *time]) + "."


def _joined(joined: Joined) -> list[str]:
    first, second = clause(joined.first), clause(joined.second)
    match joined.link:
        case "and" | "but" | "so":
            link = {"and": ["et"], "but": [",", "mais"], "so": [",", "donc"]}[joined.link]
            return [*first, *link, *second]
        case "because":
            return [*first, "parce", "que", *second]
        case "says" | "thinks":
            assert joined.speaker
            verb = (_SAY if joined.link == "says" else _THINK).present[person(joined.speaker)]
            return [*nominal(joined.speaker), verb, "que", *second]
        case "when":
            assert isinstance(joined.first, Clause)
            return ["quand", *clause(replace(joined.first, tense="future")), ",", *second]
        case _:
            return ["si", *first, ",", *second]
