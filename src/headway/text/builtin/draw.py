"""How parts of a meaning are drawn: people, things, places. Every choice goes through `Draw`, which counts it."""

from collections.abc import Sequence
from functools import cache
from math import log
from random import Random
from typing import TypeVar

from headway.text.builtin.lexicon import NAME_LIST, PLACE_LIST, Adjective, Fixed, Noun, attributes, qualities, select
from headway.text.builtin.meanings import (
    HE,
    SHE,
    THEY,
    WE,
    YOU,
    I,
    Nominal,
    Phrase,
    Pronoun,
    Quality,
    Relation,
    Spot,
    is_human,
    pronoun_for,
)

T = TypeVar("T")

PRONOUNS = (I, YOU, HE, SHE, WE, THEY)
WORKERS, ADULTS, CHILDREN, KIN = (select(kind) for kind in ("worker", "adult", "child", "kin"))
PEOPLE = WORKERS + [noun for noun in ADULTS if noun.en != "friend"] + CHILDREN
FRIENDS = select("friend, neighbour")
CITIES = [place for place in PLACE_LIST if place.kind == "city"]
COUNTRIES = [place for place in PLACE_LIST if place.kind == "country"]
UNCOUNTED = ("dish", "drink", "room")
"""The kinds of nouns that stay in the singular."""
LARGE = ("vehicle", "furniture", "device", "instrument", "home", "building", "way", "room", "opening")
FEW, MANY = range(2, 5), range(2, 11)
OWNED = ["thing", "reading", "clothing", "headwear", "furniture", "opening", "device", "instrument", "home", "room"]
OWNED += ["dish", "drink"]
BUILDINGS = select("building, outdoors")
ROOMS = select("room")

ON, UNDER, IN = Relation("on", "sur", "上"), Relation("under", "sous", "下面"), Relation("in", "dans", "里")
BEHIND, BEFORE = Relation("behind", "derrière", "后面"), Relation("in front of", "devant", "前面")
BESIDE, NEAR, AT = (
    Relation("next to", "à côté de", "旁边"),
    Relation("near", "près de", "附近"),
    Relation("at", "à", ""),
)

SMALL = select("thing, reading, headwear, phone, watch, camera")
HOLDERS = (
    (ON, select("table, chair, bed, sofa, shelf")),
    (UNDER, select("table, chair, bed, sofa")),
    (IN, select("box, bag, suitcase, basket, wardrobe, car")),
    (BEHIND, select("door, lamp, computer, sofa")),
    (BESIDE, select("window, bed, door, computer, lamp, radio")),
)
GROUNDS = (
    (IN, select("garden, forest, park, garage")),
    (BEHIND, select("house, tree, church, wall, school, lorry, castle")),
    (BEFORE, select("house, school, church, museum, hotel, bank, cinema, bakery, restaurant")),
    (NEAR, select("bridge, lake, river, station, hospital, market, castle, tree, beach")),
    (BESIDE, select("tree, house, road, pharmacy, library, river")),
)
QUALITY_OF_PRONOUN = [adjective for adjective in qualities(ADULTS[0]) if adjective.fits(CHILDREN[0])]


class Draw:
    """Choices from a seeded source, and the surprise of all of them together.

    The mean surprise is the entropy of what is drawn, and its exponential is never above the number of different
    draws there are; `count.py` uses that.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.surprise = 0.0

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the others."""
        self.surprise += log(len(items))
        return items[int(self.random.random() * len(items))]

    def chance(self, percent: int) -> bool:
        """True so many times in a hundred."""
        happens = self.random.random() * 100 < percent
        self.surprise -= log((percent if happens else 100 - percent) / 100)
        return happens

    def other(self, items: Sequence[T], than: T) -> T:
        """One of the items that is not `than`."""
        return self.pick([item for item in items if item is not than])

    def person(self, *, plural: bool = True) -> Nominal:
        """Somebody: a pronoun, a name, a relative, the people of a trade."""
        if self.chance(35):
            return self.pick(PRONOUNS)
        return self.third_person(plural=plural)

    def one_person(self) -> Nominal:
        """Somebody who is one."""
        return self.pick((I, YOU, HE, SHE)) if self.chance(30) else self.third_person(plural=False)

    def asked_person(self) -> Nominal:
        """Somebody about whom one can ask."""
        return self.pick((YOU, YOU, HE, SHE, THEY)) if self.chance(40) else self.third_person()

    def two_people(self) -> tuple[Nominal, Nominal]:
        """Two who cannot be taken for each other."""
        first, second = self.person(), self.person()
        while pronoun_for(second) is pronoun_for(first):
            second = self.person()
        return first, second

    def third_person(self, *, plural: bool = True) -> Nominal:
        """Somebody who is not a pronoun."""
        if self.chance(25):
            return self.pick(NAME_LIST)
        if self.chance(40):
            return self.relation(plural=plural)
        noun = self.pick(PEOPLE)
        many = plural and self.chance(30)
        article = "this" if self.chance(15) else "the"
        return Phrase(noun, article, plural=many, adjective=self.attribute(noun, 20))

    def relation(self, *, plural: bool = True, owner: Pronoun | None = None) -> Phrase:
        """Somebody's relative, friend or neighbour."""
        if self.chance(75):
            return Phrase(self.pick(KIN), "owned", owner=owner or self.pick((I, YOU, WE, THEY)))
        many = plural and self.chance(40)
        return Phrase(self.pick(FRIENDS), "owned", plural=many, owner=owner or self.pick((I, YOU, WE, THEY)))

    def attribute(self, noun: Noun, percent: int) -> Adjective | None:
        """An adjective beside the noun, or none."""
        fitting = attributes(noun)
        return self.pick(fitting) if fitting and self.chance(percent) else None

    def quality(self, nominal: Nominal) -> Quality:
        """Something that the subject can be."""
        fitting = qualities(nominal.noun) if isinstance(nominal, Phrase) else QUALITY_OF_PRONOUN
        adjective = self.pick(fitting)
        if adjective.is_graded and self.chance(40):
            return Quality(adjective, "too" if adjective.can_be_too and self.chance(40) else "very")
        return Quality(adjective)

    def thing(self, nouns: Sequence[Noun], subject: Nominal | None = None, *, percent: int = 25) -> Phrase:
        """One of the nouns with an article, a number or an owner; the subject of the clause may own it."""
        noun = self.pick(nouns)
        if noun.is_person:
            return self.somebody(noun, percent)
        adjective = self.attribute(noun, percent)
        article = self.pick(("the", "the", "a", "a", "this", "some", "count", "owned"))
        if article == "owned" and not can_be_owned(noun):
            article = "the"
        if article == "owned":
            owners = (I, YOU, WE, THEY) if subject is None or not is_human(subject) else (pronoun_for(subject),)
            return Phrase(noun, "owned", owner=self.pick(owners), adjective=adjective)
        if article == "count":
            return Phrase(noun, "count", plural=True, count=self.number(noun), adjective=adjective)
        plural = article == "some" or (article in ("the", "this") and self.chance(25))
        return Phrase(noun, article, plural=plural, adjective=adjective)

    def number(self, noun: Noun) -> int:
        """How many of them one has: few, if they are large."""
        return self.pick(FEW if noun.kind in LARGE else MANY)

    def somebody(self, noun: Noun, percent: int = 15) -> Phrase:
        """A person as the object of a verb."""
        article = self.pick(("the", "the", "a", "this"))
        plural = article != "a" and self.chance(25)
        return Phrase(noun, article, plural=plural, adjective=self.attribute(noun, percent))

    def definite(self, noun: Noun, *, percent: int = 25, plural: bool = True) -> Phrase:
        """The thing, this thing or my thing."""
        adjective = self.attribute(noun, percent)
        article = self.pick(("the", "the", "this", "owned"))
        if article == "owned" and can_be_owned(noun):
            return Phrase(noun, "owned", owner=self.owner(), adjective=adjective)
        article = "this" if article == "this" else "the"
        return Phrase(
            noun, article, plural=plural and noun.kind not in UNCOUNTED and self.chance(25), adjective=adjective
        )

    def owner(self) -> Nominal:
        """Somebody whom a thing belongs to; not *his* or *her*, which French cannot tell apart."""
        if self.chance(40):
            return self.pick((I, YOU, WE, THEY))
        if self.chance(50):
            return self.pick(NAME_LIST)
        return self.relation(plural=False) if self.chance(50) else Phrase(self.pick(PEOPLE))

    def small_spot(self) -> Spot:
        """Where a small thing can be."""
        relation, grounds = self.pick(HOLDERS)
        return Spot(relation, self.pick(grounds))

    def large_spot(self) -> Spot:
        """Where a person or an animal can be."""
        relation, grounds = self.pick(GROUNDS)
        return Spot(relation, self.pick(grounds))

    def public_spot(self) -> Spot:
        """A building, a room, a city or a country."""
        if self.chance(50):
            return Spot(AT, self.pick(BUILDINGS))
        if self.chance(40):
            return Spot(IN, self.pick(ROOMS))
        return Spot(None, self.place())

    def place(self) -> Fixed:
        """A city or a country."""
        return self.pick(CITIES + COUNTRIES)


@cache
def can_be_owned(noun: Noun) -> bool:
    """Whether *my* can stand before it, in the object of a verb."""
    return noun.kind in OWNED or noun.group in ("pet", "private")


@cache
def described(kind: str) -> list[Noun]:
    """The nouns of these kinds of which something can be said with *is*."""
    return [noun for noun in select(kind) if len(qualities(noun)) > 1]
