"""Actions as the constructions draw them: which verbs suit a command, a habit, a question, and when things happen."""

from headway.text.builtin.draw import BUILDINGS, Draw
from headway.text.builtin.lexicon import Fixed, Verb, times, verbs
from headway.text.builtin.meanings import Action, Clause, Nominal, Phrase

EVENTS = verbs("past")
FOOD = verbs("consume")
ACTIVITIES = verbs("activity")


def named(words: str, among: list[Verb] = EVENTS) -> list[Verb]:
    """The verbs with these English base forms."""
    wanted = words.split()
    return [verb for verb in among if verb.en in wanted]


def without(words: str, among: list[Verb] = EVENTS) -> list[Verb]:
    """The verbs with other English base forms."""
    unwanted = words.split()
    return [verb for verb in among if verb.en not in unwanted]


ON_PEOPLE = named("help meet invite thank see")
ON_THINGS = [verb for verb in EVENTS if verb not in ON_PEOPLE and verb.en != "hear"]
INTENDED = without("lose break hear see find meet")
DAILY = named("read write clean wash open close feed drive wait help")
ONGOING = named("eat wash clean repair drive read write look wait watch help draw feed photograph paint visit choose")
LASTING = "sell visit write meet paint repair learn teach"
"""The verbs that *next year* suits as well as *tomorrow*, whatever their object."""

PARTICULAR = "open close clean paint visit drive wait watch look help thank wash"
"""The verbs whose object one usually knows: *open the door*, not *open five doors*."""


def event(draw: Draw, subject: Nominal, choices: list[Verb] = EVENTS) -> Action:
    """A verb and an object that suits it."""
    verb = draw.pick(choices)
    if verb.en in PARTICULAR.split():
        return Action(verb, draw.definite(draw.pick(verb.objects)))
    return Action(verb, draw.thing(verb.objects, subject, percent=0 if verb.en == "write" else 25))


def definite_event(draw: Draw, choices: list[Verb] = EVENTS) -> Action:
    """A verb and an object that is known: what a negation or a question is about."""
    verb = draw.pick(choices)
    return Action(verb, draw.definite(draw.pick(verb.objects), percent=0 if verb.en == "write" else 25))


def food(draw: Draw, article: str) -> Action:
    """To eat, to drink or to buy something that is not counted."""
    verb = draw.pick(FOOD)
    return Action(verb, Phrase(draw.pick(verb.objects), article))


def activity(draw: Draw) -> Action:
    """To swim, to play cards."""
    return Action(draw.pick(ACTIVITIES))


def motion_to(draw: Draw, verb: Verb) -> Action:
    """To go to a place."""
    return Action(verb, Phrase(draw.pick(BUILDINGS), "place"))


def moment(draw: Draw, verb: Verb, tense: str) -> Fixed:
    """When it happened or will happen; great things may be far."""
    far = times(f"far {tense}") if verb.en in LASTING.split() else []
    return draw.pick([*times(tense), *far])


def timed(draw: Draw, subject: Nominal, action: Action, tense: str, percent: int, negative: bool = False) -> Clause:
    """A clause with a time that suits its tense, at either end, in so many cases of a hundred."""
    if not draw.chance(percent):
        return Clause(subject, action, tense, negative)
    time = moment(draw, action.verb, tense)
    return Clause(subject, action, tense, negative, time=time, fronted=draw.chance(35))
