"""Meaning to Chinese (simplified).

Chinese has neither articles nor tenses, so what English and French must know is shown by other means, always the
same: 那 for *the*, 一 for *a*, 一些 and 那些 for the plural, 了 and 没有 for the past, 会 for the future, 正在 for
what is going on. A noun that is only a landmark (桌子上, 去市场) stands alone.
"""

from headway.text.builtin.lexicon import Fixed, Name
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
    Preference,
    Pronoun,
    Quality,
    Question,
    Relative,
    Role,
    Spot,
    Weather,
    Where,
)

DEFINITE = ("the", "this", "owned")
DIGITS = "零一二三四五六七八九"
_MODALS = {"can": "能", "must": "必须", "should": "应该", "want": "想", "need": "需要", "like": "喜欢"}
_LINKS = {"and": "，", "but": "，但是", "so": "，所以", "because": "，因为"}


def number(n: int) -> str:
    """A number up to 99, as one counts years."""
    tens, ones = divmod(n, 10)
    return ("" if tens < 2 else DIGITS[tens]) + ("十" if tens else "") + (DIGITS[ones] if ones else "")


def _count(n: int) -> str:
    """A number before a measure word."""
    return "两" if n == 2 else number(n)


def sentence(meaning: Meaning) -> str:
    """The meaning as a Chinese sentence."""
    match meaning:
        case Question() | Where() | Amount():
            return _question(meaning) + "？"
        case Command():
            return _command(meaning)
        case Exclamation(noun, adjective, True, plural):
            return f"{nominal(Phrase(noun, 'this', plural))}多{adjective.zh}啊！"
        case Exclamation(noun, adjective):
            before = adjective.zh_before if adjective.zh_before.endswith("的") else adjective.zh_before + "的"
            return f"多么{before}{noun.zh}啊！"
        case Existence(phrase, spot, negative):
            there = f"没有{phrase.noun.zh}" if negative else f"有{nominal(phrase)}"
            return f"{_spot(spot)}{there}。"
        case Preference(subject, better, worse):
            return f"比起{worse.zh}，{nominal(subject)}更喜欢{better.zh}。"
        case Joined():
            return _joined(meaning) + "。"
        case _:
            return clause(meaning) + "。"


def nominal(meant: Nominal) -> str:
    """A noun phrase."""
    if isinstance(meant, Pronoun | Name):
        return meant.zh
    noun = (meant.adjective.zh_before if meant.adjective else "") + meant.noun.zh
    relative = _relative(meant.relative) if meant.relative else ""
    measure = "些" if meant.plural else meant.noun.measure
    match meant.article:
        case "the":
            return f"{relative}那{measure}{noun}"
        case "this":
            return f"{relative}这{measure}{noun}"
        case "a":
            return f"一{measure}{noun}"
        case "some":
            return f"一些{noun}"
        case "count":
            return f"{_count(meant.count)}{meant.noun.measure}{noun}"
        case "owned":
            return _owned(meant)
        case _:
            return noun


def _owned(phrase: Phrase) -> str:
    """我的朋友, but 我哥哥; 他漂亮的帽子 and 他的红色帽子, so that 的 does not come twice."""
    owner, before = phrase.owner, phrase.adjective.zh_before if phrase.adjective else ""
    assert owner
    if isinstance(owner, Phrase) and isinstance(owner.owner, Pronoun):
        whose = owner.owner.zh + owner.noun.zh  # 我朋友的书, not 我的朋友的书
    else:
        whose = nominal(owner)
    if before.endswith("色的"):
        before = before.removesuffix("的")
    kin = phrase.noun.kind == "kin" and isinstance(owner, Pronoun)
    of = "" if kin or before.endswith("的") else "的"
    return whose + of + before + phrase.noun.zh + ("们" if phrase.plural else "")


def _relative(relative: Relative) -> str:
    if relative.subject:
        return f"{nominal(relative.subject)}{_act(Action(relative.verb))}的"
    return f"{_act(Action(relative.verb, relative.object), '了')}的"


def clause(meant: Clause | Weather, *, asked: bool = False, bare: bool = False) -> str:
    """A clause; `asked` leaves out 很, `bare` leaves out what shows the tense."""
    if isinstance(meant, Weather):
        return _weather(meant)
    subject, time = nominal(meant.subject), meant.time.zh if meant.time else ""
    start = time + subject if meant.fronted else subject + time
    adverb = meant.adverb.zh if meant.adverb else ""
    return start + adverb + _predicate(meant, asked, bare)


def _clock(meant: Clause) -> str:
    """七点; 在七点 after a word like 会."""
    if not meant.clock:
        return ""
    return ("在" if meant.modal or meant.tense == "future" else "") + f"{_count(meant.clock)}点"


def _predicate(meant: Clause, asked: bool = False, bare: bool = False) -> str:
    match meant.predicate:
        case Action() as action:
            return _action(meant, action, bare)
        case Quality(adjective, degree):
            return ("会" if meant.tense == "future" else "") + _quality(adjective.zh, degree, meant.negative, asked)
        case Comparison(adjective, how, other):
            than = nominal(other)
            if how == "more":
                return f"比{than}{adjective.zh}"
            return f"没有{than}那么{adjective.zh}" if meant.negative else f"和{than}一样{adjective.zh}"
        case Role(noun):
            return ("不是" if meant.negative else "是") + noun.zh
        case Located(spot):
            return ("不在" if meant.negative else "在") + _spot(spot)
        case Age(years):
            return f"{_count(years)}岁"
        case Origin(country):
            return f"来自{country.zh}"


def _quality(word: str, degree: str, negative: bool, asked: bool) -> str:
    if word.startswith("是"):
        return ("不" if negative else "") + word
    if degree == "too":
        return f"太{word}了"
    if negative:
        return f"不太{word}" if degree else f"没{word}" if word.startswith("有") else f"不{word}"
    return f"非常{word}" if degree else word if asked else f"很{word}"


def _action(meant: Clause, action: Action, bare: bool) -> str:
    """What stands before the verb to show tense, negation and place, and the verb with its objects."""
    aspect, prefix = "", ""
    if meant.modal:
        prefix = ("不" if meant.negative else "") + _MODALS[meant.modal]
    elif action.verb.group == "have":
        prefix = "没" if meant.negative else ""
    elif meant.tense == "past":
        no = "没" if action.verb.zh.startswith("能") else "没有"
        prefix, aspect = (no, "") if meant.negative else ("", "" if bare else "了")
    elif meant.tense == "perfect":
        prefix, aspect = ("从来没有", "过") if meant.negative else ("已经", "了")
    elif meant.tense == "future":
        prefix = "不会" if meant.negative else "会"
    elif meant.tense == "progressive":
        prefix = "" if action.verb.group == "wear" else "正在"
    else:
        prefix = "不" if meant.negative else ""
    if action.verb.group == "stay":
        return prefix + _act(action) + (_spot(meant.spot) if meant.spot else "")
    place = f"在{_spot(meant.spot)}" if meant.spot else ""
    if prefix == "正在":
        place = place.removeprefix("在")
    return prefix + _clock(meant) + place + _act(action, aspect)


def _act(action: Action, aspect: str = "") -> str:
    """The verb and its objects, with 了 or 过 in its place."""
    words = action.verb.zh
    if words.endswith("{i}{}") and isinstance(action.object, Phrase) and action.object.article in DEFINITE:
        words = "把{}" + words.removesuffix("{}")  # 把那本书给了他, but 给了他一本书
    words = words.replace("~", aspect)
    if action.recipient:
        words = words.replace("{i}", nominal(action.recipient))
    return words.replace("{}", nominal(action.object) if action.object else "")


def _spot(spot: Spot) -> str:
    return spot.ground.zh + (spot.relation.zh if spot.relation and not isinstance(spot.ground, Fixed) else "")


def _weather(weather: Weather) -> str:
    place, time = weather.place.zh if weather.place else "", weather.time.zh if weather.time else ""
    if weather.kind in ("rain", "snow"):
        word = "下雨" if weather.kind == "rain" else "下雪"
        said = {"past": f"{word}了", "future": f"会{word}", "bare": word}.get(weather.tense, f"正在{word}")
        return place + time + said
    subject, word = {"hot": ("", "热"), "cold": ("", "冷"), "nice": ("天气", "好"), "windy": ("风", "大")}[weather.kind]
    return f"{place}{time}{subject}{'会' if weather.tense == 'future' else ''}很{word}"


def _question(meant: Question | Where | Amount) -> str:
    match meant:
        case Where(subject):
            return f"{nominal(subject)}在哪里"
        case Amount("how many", noun, subject):
            assert subject
            return f"{nominal(subject)}有几{noun.measure}{noun.zh}"
        case Amount("which", noun, subject):
            assert subject
            return f"{nominal(subject)}更喜欢哪{noun.measure}{noun.zh}"
        case Amount(word, noun, _, adjective, plural):
            this = nominal(Phrase(noun, "this", plural, adjective=adjective))
            return f"{this}是谁的" if word == "whose" else f"{this}多少钱"
        case Question(asked, word):
            return _asked(asked, word)
    raise AssertionError(meant)


def _asked(asked: Clause, word: str) -> str:
    action = asked.predicate if isinstance(asked.predicate, Action) else None
    if word == "":
        past = action is not None and asked.tense == "past"
        return clause(asked, asked=True, bare=past) + ("了吗" if past else "吗")
    if word in ("who", "what"):
        return clause(asked) + ("" if word == "who" else "什么")
    start = nominal(asked.subject) + (asked.time.zh if asked.time else "")
    if word == "why":
        return f"{start}为什么{_predicate(asked, asked=True)}"
    assert action
    when = "什么时候" if word == "when" else "在哪里"
    if asked.tense == "past":
        return f"{start}是{when}{_act(action)}的"
    return f"{start}{when}会{_act(action)}" if word == "when" else f"{start}会{when}{_act(action)}"


def _command(command: Command) -> str:
    words = _act(command.action)
    time = command.time.zh if command.time else ""
    match command.kind:
        case "please":
            return f"请{time}{words}。"
        case "don't":
            return f"不要{words}！"
        case _:
            return f"我们{time}{words}吧。"


def _joined(joined: Joined) -> str:
    second = clause(joined.second)
    match joined.link:
        case "says" | "thinks":
            assert joined.speaker
            return nominal(joined.speaker) + ("说" if joined.link == "says" else "觉得") + second
        case "when":
            return f"{clause(joined.first)}的时候，{second}"
        case "if":
            return f"如果{clause(joined.first)}，{second}"
        case link:
            return clause(joined.first) + _LINKS[link] + second
