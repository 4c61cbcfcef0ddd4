"""The constructions of two clauses, where French puts pronouns before the verb, and those of weather and wonder."""

from functools import cache

from headway.text.builtin.descriptions import MOODS, THINGS
from headway.text.builtin.draw import Draw, described
from headway.text.builtin.events import (
    ACTIVITIES,
    ONGOING,
    activity,
    definite_event,
    event,
    food,
    motion_to,
    named,
    without,
)
from headway.text.builtin.lexicon import (
    NAME_LIST,
    Adjective,
    Noun,
    Verb,
    adjective,
    attributes,
    qualities,
    select,
    times,
    verb,
    verbs,
)
from headway.text.builtin.meanings import (
    WE,
    YOU,
    Action,
    Clause,
    Exclamation,
    I,
    Joined,
    Meaning,
    Nominal,
    Phrase,
    Quality,
    Weather,
    pronoun_for,
)

WEATHER = ("rain", "snow", "hot", "cold", "nice", "windy")
INDOORS = without("swim run travel go", [v for v in ACTIVITIES if v.en_tail not in ("football", "tennis")])
GLAD, SORRY = [adjective("happy")], [adjective(word) for word in ("sad", "angry", "worried")]
GOOD_NEWS = named("find buy repair sell")
BAD_NEWS = named("lose break")
CARES = [verb(word) for word in ("help", "call", "talk to", "smile at")]
AVOIDS = [verb(word) for word in ("invite", "call", "talk to", "wait for")]
REWARDS = [verb(word) for word in ("thank", "invite", "call", "smile at", "talk to")]
FAVOURS = named("find wash clean repair open close write feed help")
ADMIRED = described(f"animal, {THINGS}, fruit, building, outdoors, home, way, event, room")
Sequence = tuple[Verb, str, Verb, str]


def _sequences(table: str) -> list[Sequence]:
    rows = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(verb(first), link, verb(second), tense) for first, link, second, tense in rows]


SEQUENCES = _sequences("""
buy | but | lose | past
buy | but | sell | past
buy | but | break | past
find | but | lose | past
wash | but | break | past
repair | and | sell | past
choose | and | buy | past
look for | and | find | past
write | but | lose | past
find | and | open | future
buy | and | repair | future
find | and | wash | future
find | and | read | future
choose | and | buy | future
repair | and | sell | future
open | and | close | future
wash | and | sell | future
""")
CONSEQUENCES = _sequences("""
sell | if | buy | future
find | if | open | future
find | if | read | future
buy | if | repair | future
buy | if | wash | future
lose | if | look for | future
break | if | repair | future
write | if | read | future
choose | if | buy | future
""")


@cache
def shared_objects(first: Verb, second: Verb) -> list[Noun]:
    """What both verbs can be done to."""
    return [item for item in first.objects if item in second.objects]


def bystander(draw: Draw) -> Nominal:
    """Somebody who cannot be taken for the third person that the sentence is about."""
    return draw.pick((I, YOU, WE, I, WE)) if draw.chance(70) else draw.pick(NAME_LIST)


def object_clitic(draw: Draw) -> Meaning:
    """Marie bought the car, but she sold it."""
    first, link, second, tense = draw.pick(SEQUENCES)
    subject = draw.person()
    phrase = draw.thing(shared_objects(first, second), subject)
    again = Clause(pronoun_for(subject), Action(second, pronoun_for(phrase)), tense)
    return Joined(link, Clause(subject, Action(first, phrase), "past"), again)


def person_clitic(draw: Draw) -> Meaning:
    """My sister is tired, so we will help her."""
    somebody, mood = draw.third_person(), draw.pick([mood for mood in MOODS if mood.en != "happy"])
    if mood.en in ("hungry", "thirsty"):
        some = Phrase(draw.pick(select("dish" if mood.en == "hungry" else "drink")), "some")
        then = Clause(draw.pick((I, YOU, WE)), Action(verb("give"), some, pronoun_for(somebody)), "future")
        return Joined("so", Clause(somebody, Quality(mood)), then)
    kind = mood.en not in ("busy", "angry")
    action = Action(draw.pick(CARES if kind else AVOIDS), pronoun_for(somebody))
    then = Clause(draw.pick((I, YOU, WE)), action, "future", negative=not kind)
    return Joined("so", Clause(somebody, Quality(mood)), then)


def recipient_clitic(draw: Draw) -> Meaning:
    """Paul is happy because I gave him a book."""
    glad, chosen, subject = draw.third_person(), draw.pick(verbs("give")), draw.pick((I, YOU, WE))
    gave = Clause(subject, Action(chosen, draw.thing(chosen.objects, subject, percent=20), pronoun_for(glad)), "past")
    return Joined("because", Clause(glad, Quality(adjective("happy"), draw.pick(("", "very")))), gave)


def coordination(draw: Draw) -> Meaning:
    """Paul is reading a book, and the girls are dancing."""
    clauses = []
    for subject in draw.two_people():
        action = activity(draw) if draw.chance(50) else event(draw, subject, ONGOING)
        clauses.append(Clause(subject, action, "progressive"))
    return Joined("and", clauses[0], clauses[1])


def contrast(draw: Draw) -> Meaning:
    """I like tea, but my sister hates coffee."""
    first, second = draw.two_people()
    foods, hates = select(draw.pick(("dish", "drink"))), draw.chance(50)
    favourite = draw.pick(foods)
    liked = Clause(first, Action(verb("like"), Phrase(favourite, "generic")))
    disliked = Action(verb("hate" if hates else "like"), Phrase(draw.other(foods, favourite), "generic"))
    return Joined("but", liked, Clause(second, disliked, negative=not hates))


def reason(draw: Draw) -> Meaning:
    """She is sad because she lost her key."""
    subject, glad = draw.person(), draw.chance(50)
    cause = pronoun_for(subject) if draw.chance(60) else bystander(draw)
    feeling = Quality(draw.pick(GLAD if glad else SORRY), draw.pick(("", "", "very")))
    news = Clause(cause, event(draw, cause, GOOD_NEWS if glad else BAD_NEWS), "past")
    return Joined("because", Clause(subject, feeling), news)


def plan(draw: Draw, subject: Nominal, activities: list[Verb]) -> Clause:
    """What somebody will do."""
    action = Action(draw.pick(activities)) if draw.chance(65) else food(draw, "some")
    return Clause(subject, action, "future")


def when(draw: Draw) -> Meaning:
    """When Paul arrives at the station, we will call him."""
    first = draw.third_person()
    arrival = Clause(first, motion_to(draw, verb(draw.pick(("arrive at", "go back to")))))
    if draw.chance(50):
        return Joined("when", arrival, plan(draw, draw.pick((I, YOU, WE)), ACTIVITIES))
    action = Action(draw.pick([*REWARDS, verb("help")]), pronoun_for(first))
    return Joined("when", arrival, Clause(draw.pick((I, YOU, WE)), action, "future"))


def condition(draw: Draw) -> Meaning:
    """If you sell this car, I will buy it."""
    if draw.chance(35):
        kind = draw.pick(WEATHER)
        activities = INDOORS if kind in ("rain", "snow", "cold", "windy") else ACTIVITIES
        weather = Weather(kind, "bare", time=draw.pick(times("future")[:3]))
        subject = draw.person()
        if draw.chance(30):
            return Joined(
                "if", weather, Clause(subject, event(draw, subject, named("read write clean repair")), "future")
            )
        return Joined("if", weather, plan(draw, subject, activities))
    first = draw.third_person() if draw.chance(70) else YOU
    if draw.chance(50):
        action = Action(draw.pick(REWARDS), pronoun_for(first))
        return Joined("if", Clause(first, definite_event(draw, FAVOURS)), Clause(draw.pick((I, WE)), action, "future"))
    did, link, then, tense = draw.pick(CONSEQUENCES)
    phrase = draw.definite(draw.pick(shared_objects(did, then)))
    return Joined(
        link, Clause(first, Action(did, phrase)), Clause(bystander(draw), Action(then, pronoun_for(phrase)), tense)
    )


def weather(draw: Draw) -> Meaning:
    """It will snow in Berlin tomorrow."""
    kind, place = draw.pick(WEATHER), draw.place()
    if draw.chance(10):
        return Weather(kind, "present", place)
    tense = draw.pick(("past", "future"))
    return Weather(kind, tense, place, draw.pick([*times(tense), *times(f"far {tense}")[:1]]))


@cache
def striking(noun: Noun) -> list[Adjective]:
    """The adjectives that *what a ...!* goes with."""
    return [adjective for adjective in attributes(noun) if adjective.is_graded and adjective.zh]


def exclamation(draw: Draw) -> Meaning:
    """What a beautiful house!"""
    item = draw.pick(ADMIRED)
    if striking(item) and draw.chance(40):
        return Exclamation(item, draw.pick(striking(item)))
    graded = [adjective for adjective in qualities(item) if adjective.is_graded]
    return Exclamation(item, draw.pick(graded), True, draw.chance(30))
