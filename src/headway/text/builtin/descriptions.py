"""The constructions that tell what somebody or something is, has, or where it is."""

from functools import cache

from headway.text.builtin.draw import AT, IN, PEOPLE, SMALL, WORKERS, Draw, described
from headway.text.builtin.events import ON_PEOPLE, ON_THINGS, definite_event, named
from headway.text.builtin.lexicon import Adjective, Noun, adjective, noun, qualities, select, times, verb
from headway.text.builtin.meanings import (
    Action,
    Age,
    Clause,
    Comparison,
    Existence,
    Joined,
    Located,
    Meaning,
    Nominal,
    Phrase,
    Pronoun,
    Quality,
    Question,
    Relative,
    Role,
    Spot,
)

THINGS = "private, thing, reading, clothing, headwear, furniture, device, instrument"
DESCRIBED = [
    *described("animal, vehicle, thing, reading, clothing, headwear, furniture, device, instrument, home"),
    *described("fruit, dish, drink, building, outdoors, room, way, event"),
]
ROLES = [*WORKERS, noun("student")]
SEEN = PEOPLE + select("animal")
_MOODS = ("tired", "busy", "hungry", "happy", "nervous", "worried", "angry", "thirsty", "sad")
MOODS = [adjective(word) for word in _MOODS]
TRAITS = ("tall", "short", "kind", "intelligent", "lazy", "brave", "funny", "shy", "patient", "polite")
COMPARED = ("animal", "vehicle", "clothing", "furniture", "building", "event", "reading", "way", "device")
STORES = [Spot(IN, place) for place in select("fridge, kitchen, cellar, house")]
STORES += [Spot(AT, place) for place in select("bakery, market, supermarket, restaurant, hotel, station")]
AGES = {"child": range(5, 16), "worker": range(25, 70), "adult": range(20, 70)}
AGES |= {name: range(5, 26) for name in ("son", "nephew", "niece")}
AGES |= {name: range(5, 41) for name in ("sister", "brother")}
AGES |= {name: range(30, 70) for name in ("mother", "father", "uncle", "aunt")}
AGES |= {name: range(60, 70) for name in ("grandmother", "grandfather")}


def identity(draw: Draw) -> Meaning:
    """I am a student."""
    subject = draw.one_person()
    if isinstance(subject, Phrase) and (subject.noun in ROLES or subject.noun.kind == "child"):
        return identity(draw)
    return Clause(subject, Role(draw.pick(ROLES)), negative=draw.chance(25))


def quality(draw: Draw) -> Meaning:
    """The soup is too hot."""
    subject = draw.definite(draw.pick(DESCRIBED), percent=0)
    return Clause(subject, draw.quality(subject))


def mood(draw: Draw) -> Meaning:
    """My brother is not very patient."""
    subject = draw.person()
    said = draw.quality(subject)
    return Clause(subject, said, negative=said.degree != "too" and draw.chance(30))


def habit_of_mind(draw: Draw) -> Meaning:
    """She is always tired."""
    return Clause(draw.person(), Quality(draw.pick(MOODS)), adverb=draw.pick(times("adverb")[:3]))


def past_quality(draw: Draw) -> Meaning:
    """Yesterday, they were very hungry."""
    said, subject = Quality(draw.pick(MOODS), draw.pick(("", "", "very"))), draw.person()
    time, negative = draw.pick(times("past")), draw.chance(25)
    return Clause(subject, said, "past", negative, time=time, fronted=draw.chance(35))


def age(draw: Draw) -> Meaning:
    """My niece is six years old."""
    subject = draw.one_person()
    ages = range(5, 70)
    if isinstance(subject, Phrase):
        subject = Phrase(subject.noun, subject.article, owner=subject.owner)
        ages = AGES.get(subject.noun.en) or AGES[subject.noun.kind]
    return Clause(subject, Age(draw.pick(ages)))


def possessing(draw: Draw, subject: Nominal, negative: bool = False) -> Clause:
    """Somebody has something, or does not."""
    have = verb("have")
    owned = draw.pick(have.objects)
    if negative:
        phrase = Phrase(owned, "none")
    elif draw.chance(40):
        phrase = Phrase(owned, "count", True, draw.number(owned), draw.attribute(owned, 40))
    else:
        phrase = Phrase(owned, "a", adjective=draw.attribute(owned, 60))
    return Clause(subject, Action(have, phrase), negative=negative)


def possession(draw: Draw) -> Meaning:
    """She has three cats."""
    return possessing(draw, draw.person(), draw.chance(30))


def owned_thing(draw: Draw) -> Meaning:
    """Marie's car is red."""
    subject = Phrase(draw.pick(described(THINGS + ", pet, home")), "owned", owner=draw.owner())
    return Clause(subject, draw.quality(subject))


def subject_relative(draw: Draw) -> Meaning:
    """The girl who found the key is tired."""
    doing = definite_event(draw, [*ON_THINGS, *ON_PEOPLE])
    subject = Phrase(draw.pick(PEOPLE), "the", draw.chance(25), relative=Relative(None, doing.verb, doing.object))
    return Clause(subject, Quality(draw.quality(subject).adjective))


def object_relative(draw: Draw) -> Meaning:
    """The car that I bought is expensive."""
    chosen = draw.pick(named("buy sell find lose repair choose read draw visit wash", ON_THINGS))
    head = draw.pick([thing for thing in chosen.objects if thing in DESCRIBED])
    subject = Phrase(head, "the", draw.chance(25), relative=Relative(draw.person(), chosen))
    return Clause(subject, Quality(draw.quality(subject).adjective))


def existence(draw: Draw) -> Meaning:
    """There is a cat under the table."""
    spot, nouns = (draw.small_spot(), SMALL) if draw.chance(55) else (draw.large_spot(), SEEN)
    item = draw.pick([noun for noun in nouns if noun is not spot.ground])
    described_by = draw.attribute(item, 30)
    if draw.chance(40):
        return Existence(Phrase(item, "a", adjective=described_by), spot)
    if draw.chance(50):
        return Existence(Phrase(item, "some", True, adjective=described_by), spot)
    return Existence(Phrase(item, "count", True, draw.number(item), described_by), spot)


def supplies(draw: Draw) -> Meaning:
    """There is no milk in the fridge."""
    spot = draw.pick(STORES)
    if draw.chance(50):
        return Existence(Phrase(draw.pick(select("dish, drink")), "some"), spot, draw.chance(50))
    item = draw.pick(select("fruit"))
    return Existence(Phrase(item, "count", True, draw.number(item), draw.attribute(item, 30)), spot)


def location(draw: Draw) -> Meaning:
    """The keys are on the table."""
    if draw.chance(50):
        spot = draw.small_spot()
        subject: Nominal = draw.definite(draw.pick([noun for noun in SMALL if noun is not spot.ground]))
    elif draw.chance(40):
        subject, spot = draw.definite(draw.pick(select("animal"))), draw.large_spot()
    else:
        subject, spot = draw.person(), draw.public_spot()
    clause = Clause(subject, Located(spot), negative=draw.chance(25))
    return Question(clause) if not isinstance(subject, Pronoun) and draw.chance(20) and not clause.negative else clause


def comparison(draw: Draw) -> Meaning:
    """The horse is faster than the dog."""
    if draw.chance(40):
        subject, other = draw.two_people()
        chosen = adjective(draw.pick(TRAITS), "child")
    else:
        nouns = described(draw.pick(COMPARED))
        first = draw.pick(nouns)
        ways = [a for a in comparable(first) if any(a.fits(noun) for noun in nouns if noun is not first)]
        if not ways:
            return comparison(draw)
        chosen = draw.pick(ways)
        second = draw.pick([noun for noun in nouns if noun is not first and chosen.fits(noun)])
        subject, other = draw.definite(first, percent=0), draw.definite(second, percent=0)
    how = draw.pick(("more", "more", "as"))
    return Clause(subject, Comparison(chosen, how, other), negative=how == "as" and draw.chance(50))


@cache
def comparable(item: Noun) -> list[Adjective]:
    """The adjectives by which a noun can be compared."""
    return [a for a in qualities(item) if a.comparative]


def speech(draw: Draw) -> Meaning:
    """Paul thinks that this film is boring."""
    subject: Nominal = draw.definite(draw.pick(DESCRIBED), percent=0) if draw.chance(65) else draw.third_person()
    said = Clause(subject, draw.quality(subject))
    return Joined(draw.pick(("says", "thinks")), said, said, draw.person())
