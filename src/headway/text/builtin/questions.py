"""The constructions that ask."""

from headway.text.builtin.descriptions import DESCRIBED, MOODS, THINGS, possessing
from headway.text.builtin.draw import SMALL, Draw
from headway.text.builtin.events import EVENTS, FOOD, INTENDED, definite_event, named, timed, without
from headway.text.builtin.lexicon import select, verb
from headway.text.builtin.meanings import WHO, Action, Amount, Clause, Meaning, Nominal, Quality, Question, Where

FEELINGS = [mood for mood in MOODS if mood.en in ("happy", "nervous", "worried", "angry", "sad")]
SOUGHT = [*SMALL, *select("clothing, vehicle, animal, building")]
OWNED = select(f"{THINGS}, pet")
PRICED = select(THINGS)
LIKED = select(f"{THINGS}, pet, building, event")


def yes_no_past(draw: Draw) -> Meaning:
    """Did you find the key?"""
    return Question(Clause(draw.asked_person(), definite_event(draw), "past"))


def yes_no_quality(draw: Draw) -> Meaning:
    """Is this book interesting?"""
    subject: Nominal = draw.definite(draw.pick(DESCRIBED), percent=0) if draw.chance(70) else draw.third_person()
    return Question(Clause(subject, Quality(draw.quality(subject).adjective)))


def yes_no_have(draw: Draw) -> Meaning:
    """Do you have a dog?"""
    return Question(possessing(draw, draw.asked_person()))


def modal_question(draw: Draw) -> Meaning:
    """Can you open the window?"""
    word = draw.pick(("can", "want", "need"))
    return Question(Clause(draw.asked_person(), definite_event(draw, INTENDED), modal=word))


def where_is(draw: Draw) -> Meaning:
    """Where is Marie's bag?"""
    return Where(draw.definite(draw.pick(SOUGHT), percent=30))


def who_question(draw: Draw) -> Meaning:
    """Who broke the window?"""
    return Question(timed(draw, WHO, definite_event(draw), "past", 20), "who")


def what_question(draw: Draw) -> Meaning:
    """What did the doctor buy?"""
    choices = named("buy find lose break read write see hear choose draw repair sell watch")
    subject = draw.asked_person()
    if draw.chance(60):
        return Question(Clause(subject, Action(draw.pick([*choices, *FOOD[:2]])), "past"), "what")
    chosen = draw.pick([*without("find lose break hear see", choices), *FOOD[:2]])
    if draw.chance(50):
        return Question(Clause(subject, Action(chosen), modal="want"), "what")
    return Question(Clause(subject, Action(chosen), "future"), "what")


def when_or_where_question(draw: Draw) -> Meaning:
    """When did you sell the car?"""
    tense = "past" if draw.chance(60) else "future"
    intended = "buy sell repair wash draw"
    choices = named(intended if tense == "future" else f"{intended} find lose read write choose")
    return Question(Clause(draw.asked_person(), definite_event(draw, choices), tense), draw.pick(("when", "where")))


def why_question(draw: Draw) -> Meaning:
    """Why didn't he open the letter?"""
    subject = draw.asked_person()
    if draw.chance(30):
        return Question(Clause(subject, Quality(draw.pick(FEELINGS))), "why")
    action = definite_event(draw, without("hear lose find break", EVENTS))
    return Question(Clause(subject, action, "past", draw.chance(40)), "why")


def how_many_question(draw: Draw) -> Meaning:
    """How many books do you have?"""
    return Amount("how many", draw.pick(verb("have").objects), draw.asked_person())


def which_question(draw: Draw) -> Meaning:
    """Which hat does she prefer?"""
    return Amount("which", draw.pick(LIKED), draw.asked_person())


def price_or_owner_question(draw: Draw) -> Meaning:
    """How much does this red hat cost?"""
    word = draw.pick(("whose", "how much"))
    item = draw.pick(OWNED if word == "whose" else PRICED)
    return Amount(word, item, adjective=draw.attribute(item, 50), plural=draw.chance(30))
