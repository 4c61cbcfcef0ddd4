"""The constructions that tell what somebody does, and those that ask for it to be done."""

from headway.text.builtin.draw import AT, COUNTRIES, IN, PEOPLE, ROOMS, Draw
from headway.text.builtin.events import (
    ACTIVITIES,
    DAILY,
    FOOD,
    INTENDED,
    ON_THINGS,
    ONGOING,
    activity,
    definite_event,
    event,
    food,
    motion_to,
    named,
    timed,
    without,
)
from headway.text.builtin.lexicon import Noun, select, times, verb, verbs
from headway.text.builtin.meanings import (
    WE,
    YOU,
    Action,
    Clause,
    Command,
    Meaning,
    Nominal,
    Origin,
    Phrase,
    Preference,
    Spot,
    gender,
    pronoun_for,
)

LEISURE = [v for v in ACTIVITIES if v.en in ("sing", "dance", "read", "sleep", "work", "take", "listen")]
LEISURE += [v for v in ACTIVITIES if v.en_tail in ("cards", "chess")]
RESORTS = select("park, beach, school, hotel, university, library")
HOURS = {"get": range(5, 11), "wake": range(5, 11), "go": range(8, 12)}
DAYS = [time for time in times("habit") if time.en in ("every day", "every Sunday", "every Friday")]
DATES = [time for time in times("future") if time.en in ("tomorrow", "next Monday", "in two days")]


def past(draw: Draw) -> Meaning:
    """She bought two red dresses."""
    subject = draw.person()
    return timed(draw, subject, event(draw, subject), "past", 50)


def past_negative(draw: Draw) -> Meaning:
    """We didn't find your key."""
    clause = timed(draw, draw.person(), definite_event(draw), "past", 30, negative=True)
    return past_negative(draw) if clause.time and clause.time.en.endswith("ago") else clause


def future(draw: Draw) -> Meaning:
    """Tomorrow, I will repair the car."""
    subject = draw.person()
    action = food(draw, "some") if draw.chance(20) else event(draw, subject, INTENDED)
    return timed(draw, subject, action, "future", 80)


def future_negative(draw: Draw) -> Meaning:
    """Paul won't sell his car."""
    return timed(draw, draw.person(), definite_event(draw, INTENDED), "future", 50, negative=True)


def habit(draw: Draw) -> Meaning:
    """My mother drinks coffee every morning."""
    subject = draw.person()
    if draw.chance(40):
        action = food(draw, "mass")
    else:
        action = activity(draw) if draw.chance(50) else definite_event(draw, DAILY)
    if draw.chance(50):
        return Clause(subject, action, adverb=draw.pick(times("adverb")))
    return Clause(subject, action, time=draw.pick(times("habit")))


def diet(draw: Draw) -> Meaning:
    """I don't eat meat."""
    chosen = draw.pick(FOOD[:2])
    return Clause(draw.person(), Action(chosen, Phrase(draw.pick(chosen.objects), "mass")), negative=draw.chance(60))


def progressive(draw: Draw) -> Meaning:
    """The children are washing the dog."""
    subject = draw.person()
    action = food(draw, "mass") if draw.chance(20) else event(draw, subject, ONGOING)
    return Clause(subject, action, "progressive")


def leisure(draw: Draw) -> Meaning:
    """The girls are dancing in the garden."""
    spot = Spot(IN, draw.pick(ROOMS)) if draw.chance(50) else Spot(AT, draw.pick(RESORTS))
    return Clause(draw.person(), Action(draw.pick(LEISURE)), "progressive", spot=spot)


def _wardrobe(items: tuple[Noun, ...], wearer: str) -> list[Noun]:
    """What women do not wear, or men."""
    unusual = ("tie",) if wearer == "f" else ("dress", "skirt")
    return [item for item in items if item.en not in unusual]


def wearing(draw: Draw) -> Meaning:
    """The woman is wearing a red dress."""
    chosen = draw.pick(verbs("wear"))
    subject = draw.one_person()
    item = draw.pick(_wardrobe(chosen.objects, gender(subject)))
    owner = pronoun_for(subject) if draw.chance(35) else None
    worn = Phrase(item, "owned" if owner else "a", adjective=draw.attribute(item, 70), owner=owner)
    return Clause(subject, Action(chosen, worn), "progressive")


def counted(draw: Draw) -> Meaning:
    """My uncle sold four horses last year."""
    subject, chosen = draw.person(), draw.pick(named("buy sell find eat read draw repair break", ON_THINGS))
    item = draw.pick(chosen.objects)
    phrase = Phrase(item, "count", True, draw.number(item), draw.attribute(item, 30))
    return timed(draw, subject, Action(chosen, phrase), "past", 60)


def please(draw: Draw) -> Meaning:
    """Open the window, please."""
    return Command("please", food(draw, "some") if draw.chance(15) else event(draw, YOU, INTENDED))


def forbid(draw: Draw) -> Meaning:
    """Don't open this letter!"""
    return Command("don't", definite_event(draw, [*without("write", INTENDED), *named("lose break")]))


def suggestion(draw: Draw) -> Meaning:
    """Let's play cards tonight."""
    time = draw.pick(times("future")) if draw.chance(60) else None
    if time and draw.chance(50):
        action = activity(draw)
    elif draw.chance(40):
        action = food(draw, "some") if draw.chance(50) else motion_to(draw, verb("go to"))
    else:
        action = event(draw, WE, INTENDED)
    return Command("let's", action, time)


def modal(draw: Draw) -> Meaning:
    """You should thank the nurse."""
    subject, word = draw.person(), draw.pick(("can", "must", "should", "want", "need"))
    action = food(draw, "some") if draw.chance(20) else event(draw, subject, INTENDED)
    return Clause(subject, action, modal=word)


def modal_negative(draw: Draw) -> Meaning:
    """They can't repair your bicycle."""
    word = draw.pick(("can", "should", "want"))
    return Clause(draw.person(), definite_event(draw, INTENDED), modal=word, negative=True)


def routine(draw: Draw) -> Meaning:
    """I get up at seven o'clock every day."""
    subject, chosen = draw.person(), draw.pick(verbs("routine"))
    clock = draw.pick(HOURS.get(chosen.en, range(1, 12))) if chosen.en in HOURS or draw.chance(80) else 0
    if draw.chance(30):
        return Clause(subject, Action(chosen), "future", time=draw.pick(DATES), clock=clock)
    if draw.chance(30):
        return Clause(subject, Action(chosen), modal=draw.pick(("want", "must", "need", "should")), clock=clock)
    return Clause(subject, Action(chosen), time=draw.pick(DAYS), clock=clock)


def timetable(draw: Draw) -> Meaning:
    """The concert will start at eight o'clock tomorrow."""
    subject, action = Phrase(draw.pick(verb("start").objects), draw.pick(("the", "this"))), Action(verb("start"))
    clock = draw.pick(range(1, 13))
    if draw.chance(70):
        return Clause(subject, action, "future", time=draw.pick(DATES), clock=clock, fronted=draw.chance(35))
    return Clause(subject, action, clock=clock, time=draw.pick(DAYS))


def motion(draw: Draw) -> Meaning:
    """The girls went to the market yesterday."""
    tense, name = draw.pick(("past", "future")), draw.pick(("go to", "go to", "go back to", "arrive at"))
    negative = name == "go to" and draw.chance(30)
    clause = timed(draw, draw.person(), motion_to(draw, verb(name)), tense, 75, negative)
    return motion(draw) if negative and clause.time and clause.time.en.endswith("ago") else clause


def likes(draw: Draw) -> Meaning:
    """My brother likes to swim."""
    subject = draw.person()
    if draw.chance(50):
        chosen = draw.pick(verbs("like"))
        action = Action(chosen, Phrase(draw.pick(chosen.objects), "generic"))
        return Clause(subject, action, negative=chosen.en == "like" and draw.chance(30))
    return Clause(subject, activity(draw), modal="like", negative=draw.chance(30))


def preference(draw: Draw) -> Meaning:
    """I prefer tea to coffee."""
    kinds = select(draw.pick(("dish", "drink")))
    better = draw.pick(kinds)
    return Preference(draw.person(), better, draw.other(kinds, better))


def studies(draw: Draw) -> Meaning:
    """Anna is learning Chinese."""
    subject, chosen = draw.person(), draw.pick(verbs("learn"))
    action = Action(chosen, Phrase(draw.pick(chosen.objects), "generic"))
    if draw.chance(30):
        return Clause(subject, action, "progressive")
    if draw.chance(40):
        return Clause(subject, action, modal=draw.pick(("want", "must", "can")))
    return Clause(subject, action, "future", time=draw.pick(times("far future")), fronted=draw.chance(35))


def giving(draw: Draw) -> Meaning:
    """The doctor gave a book to the child."""
    subject, chosen = draw.person(), draw.pick(verbs("give"))
    item = draw.thing(chosen.objects, subject, percent=20)
    to = draw.relation() if draw.chance(50) else Phrase(draw.pick(PEOPLE), "the", draw.chance(25))
    return timed(draw, subject, Action(chosen, item, to), "past" if draw.chance(60) else "future", 40)


def contact(draw: Draw) -> Meaning:
    """She called the lawyer."""
    subject, chosen = draw.person(), draw.pick(verbs("to"))
    to: Nominal = draw.relation() if draw.chance(50) else draw.somebody(draw.pick(chosen.objects))
    tense = draw.pick(("past", "future"))
    negative = draw.chance(25) and isinstance(to, Phrase) and to.article != "a"
    return timed(draw, subject, Action(chosen, to), tense, 0 if negative else 60, negative)


def origin(draw: Draw) -> Meaning:
    """Anna comes from Italy."""
    if draw.chance(50):
        return Clause(draw.person(), Origin(draw.pick(COUNTRIES)))
    return Clause(draw.person(), Action(verb("live")), spot=Spot(None, draw.place()))


def experience(draw: Draw) -> Meaning:
    """We have already read this novel."""
    choices = named("read see visit repair help drive photograph draw wash sell watch")
    return Clause(draw.person(), definite_event(draw, choices), "perfect", draw.chance(50))
