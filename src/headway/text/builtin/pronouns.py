"""The pronoun whose antecedent decides its gender: *The animal didn't cross the street because it was too tired.*

Nothing but the adjective says which of the two things *it* is: animals get tired and streets are wide. Where the two
have different genders in French, French must say *il* or *elle*.
"""

from dataclasses import dataclass
from functools import cache

from headway.text.builtin.draw import Draw
from headway.text.builtin.lexicon import Adjective, Noun, Verb, adjective, select, verb, verbs
from headway.text.builtin.meanings import IT, Action, Clause, Joined, Meaning, Phrase, Quality


@dataclass(frozen=True, eq=False)
class Scene:
    """Something that did not happen, and the faults that lie with the one or the other of two things.

    A fault counts only if it suits the one and not the other, unless `sized`: a ball that does not fit in a box is too
    big or the box too small, though either can be both.
    """

    verbs: list[Verb]
    subjects: list[Noun]
    subject_faults: list[Adjective]
    object_faults: list[Adjective]
    sized: bool = False


@dataclass(frozen=True, eq=False)
class Riddle:
    """A scene with its two things."""

    subject: Noun
    verb: Verb
    object: Noun
    subject_faults: tuple[Adjective, ...]
    object_faults: tuple[Adjective, ...]
    tenses: tuple[str, ...]

    @property
    def genders(self) -> str:
        """Those of subject and object in French: `mf` for *l'animal* and *la rue*."""
        return self.subject.gender + self.object.gender

    def meaning(self, fault: Adjective, tense: str) -> Joined:
        """*The animal didn't cross the street because it was too wide.*"""
        culprit = self.subject if fault in self.subject_faults else self.object
        first = Clause(Phrase(self.subject), Action(self.verb, Phrase(self.object)), tense, negative=True)
        then = "past" if tense == "past" else "present"
        return Joined("because", first, Clause(IT[culprit.gender], Quality(fault, "too"), then))


def _adjectives(words: str) -> list[Adjective]:
    return [adjective(word) for word in words.split()]


_ANIMAL_FAULTS = [*_adjectives("tired weak slow lazy nervous frightened"), adjective("young", "animal")]
_WAY_FAULTS = _adjectives("wide dangerous long deep narrow dark noisy high")
_EATERS = (
    "cat, dog, horse, cow, rabbit, mouse, monkey, bear, fox, goat, pig, elephant, turtle, hen, giraffe, bird, goose"
)
_PACKED = "gift, toy, ball, painting, mirror, lamp, guitar, bottle, violin, computer, coat, cake, plate, radio, book"

SCENES = [
    Scene(verbs("cross"), select("animal"), _ANIMAL_FAULTS, _WAY_FAULTS),
    Scene(
        [verb("cross")],
        select("car, lorry, bus, motorcycle, taxi, train"),
        [*_adjectives("slow heavy"), adjective("old", "vehicle")],
        _WAY_FAULTS,
    ),
    Scene(
        verbs("taste"),
        select(_EATERS),
        _adjectives("tired weak nervous frightened"),
        _adjectives("hot cold salty hard sweet"),
    ),
    Scene(verbs("fit"), select(_PACKED), _adjectives("big"), _adjectives("small"), sized=True),
]


@cache
def riddles() -> list[Riddle]:
    """All the riddles there are."""
    found = []
    for scene in SCENES:
        tenses = ("past",) if scene.sized else ("past", "past", "future")
        for subject, verb_ in ((subject, verb_) for subject in scene.subjects for verb_ in scene.verbs):
            for object_ in verb_.objects:
                mine = [a for a in scene.subject_faults if scene.sized or (a.fits(subject) and not a.fits(object_))]
                its = [a for a in scene.object_faults if scene.sized or (a.fits(object_) and not a.fits(subject))]
                if mine and its:
                    found.append(Riddle(subject, verb_, object_, tuple(mine), tuple(its), tenses))
    return found


@cache
def _riddles_of(genders: str) -> list[Riddle]:
    return [riddle for riddle in riddles() if riddle.genders == genders]


def pronoun_reference(draw: Draw) -> Meaning:
    """The animal didn't cross the street because it was too tired.

    All four pairs of genders are as frequent. If one thing were always masculine and the other feminine, its gender
    would say nothing without the adjective, nor the adjective without the gender, and that is hard to begin to learn.
    """
    riddle = draw.pick(_riddles_of(draw.pick(("mm", "mf", "fm", "ff"))))
    fault = draw.pick(riddle.subject_faults if draw.chance(50) else riddle.object_faults)
    return riddle.meaning(fault, draw.pick(riddle.tenses))
