"""French noun phrases, numbers and spelling.

The functions give lists of words in their full form (*de le*, *que elle*); `spell` joins them, and is the one place
that elides and contracts. A clitic ends in `_` until then: *de le_ laver* must not become *du laver*.
"""

from headway.text.builtin.conjugation import conjugate
from headway.text.builtin.lexicon import Adjective, Name, Noun
from headway.text.builtin.meanings import Nominal, Phrase, Pronoun, Relative, person

NUMBERS = ["zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze"]
NUMBERS += ["treize", "quatorze", "quinze", "seize"]
_TENS = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante"}
_OWN = {0: ("mon", "ma", "mes"), 1: ("ton", "ta", "tes"), 2: ("son", "sa", "ses")}
_OWN |= {3: ("notre", "notre", "nos"), 5: ("leur", "leur", "leurs")}
_ELIDED = {"je", "le", "la", "de", "que", "ne", "me_", "te_", "se_", "le_", "la_"}
_CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}
_NO_ELISION = ("haie", "haut", "huit", "onze")
_HAVE = conjugate("avoir")


def starts_with_vowel(word: str) -> bool:
    """Whether *le* becomes *l'* before it."""
    return (word == "y" or word[0] in "aeiouâàéèêîôûœh") and not word.startswith(_NO_ELISION)


def spell(words: list[str]) -> str:
    """Join words, with elision (*l'eau*, *qu'elle*, *s'il*) and contraction (*au*, *des*)."""
    parts, i = [], 0
    words = [word for word in words if word]
    while i < len(words):
        word, after = words[i], words[i + 1] if i + 1 < len(words) else ""
        last = i + 2 >= len(words)
        if (word, after) in _CONTRACTED and (after == "les" or last or not starts_with_vowel(words[i + 2])):
            parts.append(_CONTRACTED[word, after] + " ")
            i += 2
            continue
        if after and word in _ELIDED and starts_with_vowel(after.lower()):
            parts.append(word.rstrip("_")[:-1] + "'")
        elif word == "si" and after in ("il", "ils"):
            parts.append("s'")
        else:
            parts.append(word.rstrip("_") + " ")
        i += 1
    return "".join(parts).strip().replace(" ,", ",")


def definite_article(noun: Noun) -> str:
    """Le or la."""
    return "le" if noun.gender == "m" else "la"


def adjective_form(adjective: Adjective, feminine: bool, plural: bool) -> str:
    """The adjective as it agrees."""
    return adjective.fr[feminine + 2 * plural]


def participle_form(participle: str, feminine: bool, plural: bool) -> str:
    """The participle as it agrees."""
    word = participle + "e" if feminine else participle
    return word + "s" if plural and not word.endswith("s") else word


def noun_group(noun: Noun, adjective: Adjective | None, plural: bool) -> list[str]:
    """A noun with its adjective, on the side where it belongs."""
    word = noun.fr_plural if plural else noun.fr
    if adjective is None:
        return [word]
    form = adjective_form(adjective, noun.gender == "f", plural)
    if not adjective.fr_before:
        return [word, form]
    if noun.gender == "m" and not plural and starts_with_vowel(word):
        form = adjective.fr_before_vowel
    return [form, word]


def nominal(meant: Nominal) -> list[str]:
    """A noun phrase as a subject, or as an object that is not a clitic."""
    if isinstance(meant, Pronoun):
        return [meant.fr]
    if isinstance(meant, Name):
        return [meant.en]
    words = _determined(meant, noun_group(meant.noun, meant.adjective, meant.plural))
    return words + _relative(meant.relative, meant) if meant.relative else words


def _determined(phrase: Phrase, words: list[str]) -> list[str]:
    """The words of a noun with their article, number or owner."""
    feminine, plural, vowel = phrase.noun.gender == "f", phrase.plural, starts_with_vowel(words[0])
    the = "les" if plural else "la" if feminine else "le"
    match phrase.article:
        case "a":
            return ["une" if feminine else "un", *words]
        case "none":
            return ["de", *words]
        case "count":
            return [NUMBERS[phrase.count], *words]
        case "this":
            return ["ces" if plural else "cette" if feminine else "cet" if vowel else "ce", *words]
        case "some" | "mass":
            before = phrase.adjective is not None and phrase.adjective.fr_before
            return ["de", *words] if plural and before else ["de", the, *words]
        case "owned":
            assert phrase.owner
            if isinstance(phrase.owner, Pronoun):
                return [_OWN[phrase.owner.person][2 if plural else 1 if feminine and not vowel else 0], *words]
            return [the, *words, "de", *nominal(phrase.owner)]
        case _:
            return [the, *words]


def _relative(relative: Relative, phrase: Phrase) -> list[str]:
    verb = relative.verb.fr
    if relative.subject is None:
        assert relative.object
        have = _HAVE.present[5 if phrase.plural else 2]
        return ["qui", have, verb.participle, relative.verb.fr_tail, *nominal(relative.object)]
    participle = participle_form(verb.participle, phrase.noun.gender == "f", phrase.plural)
    return ["que", *nominal(relative.subject), _HAVE.present[person(relative.subject)], participle]


def number(n: int) -> str:
    """A number in words, up to 69."""
    if n < len(NUMBERS):
        return NUMBERS[n]
    if n < 20:
        return f"dix-{NUMBERS[n - 10]}"
    one = n % 10
    return _TENS[n - one] + (" et un" if one == 1 else f"-{NUMBERS[one]}" if one else "")
