"""French verbs: from an infinitive to the forms that the corpus uses. Regular ones by rule, the others by table."""

from dataclasses import dataclass

# infinitive | present, six forms | future stem | past participle
_IRREGULAR = """
être | suis es est sommes êtes sont | ser | été
avoir | ai as a avons avez ont | aur | eu
aller | vais vas va allons allez vont | ir | allé
faire | fais fais fait faisons faites font | fer | fait
prendre | prends prends prend prenons prenez prennent | prendr | pris
apprendre | apprends apprends apprend apprenons apprenez apprennent | apprendr | appris
comprendre | comprends comprends comprend comprenons comprenez comprennent | comprendr | compris
atteindre | atteins atteins atteint atteignons atteignez atteignent | atteindr | atteint
dire | dis dis dit disons dites disent | dir | dit
lire | lis lis lit lisons lisez lisent | lir | lu
écrire | écris écris écrit écrivons écrivez écrivent | écrir | écrit
boire | bois bois boit buvons buvez boivent | boir | bu
voir | vois vois voit voyons voyez voient | verr | vu
savoir | sais sais sait savons savez savent | saur | su
connaître | connais connais connaît connaissons connaissez connaissent | connaîtr | connu
conduire | conduis conduis conduit conduisons conduisez conduisent | conduir | conduit
suivre | suis suis suit suivons suivez suivent | suivr | suivi
courir | cours cours court courons courez courent | courr | couru
dormir | dors dors dort dormons dormez dorment | dormir | dormi
partir | pars pars part partons partez partent | partir | parti
sortir | sors sors sort sortons sortez sortent | sortir | sorti
venir | viens viens vient venons venez viennent | viendr | venu
ouvrir | ouvre ouvres ouvre ouvrons ouvrez ouvrent | ouvrir | ouvert
mettre | mets mets met mettons mettez mettent | mettr | mis
vouloir | veux veux veut voulons voulez veulent | voudr | voulu
pouvoir | peux peux peut pouvons pouvez peuvent | pourr | pu
devoir | dois dois doit devons devez doivent | devr | dû
pleuvoir | pleut pleut pleut pleut pleut pleut | pleuvr | plu
envoyer | envoie envoies envoie envoyons envoyez envoient | enverr | envoyé
sourire | souris souris sourit sourions souriez sourient | sourir | souri
peindre | peins peins peint peignons peignez peignent | peindr | peint
rire | ris ris rit rions riez rient | rir | ri
"""
_TABLE = {row[0]: row for row in ([c.strip() for c in line.split("|")] for line in _IRREGULAR.strip().splitlines())}

_WITH_BE = ("aller", "arriver", "partir", "venir", "entrer", "rentrer", "rester", "sortir", "tomber", "retourner")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
_CONSONANTS = "bcdfghjklmnpqrstvz"


def french_plural(word: str) -> str:
    """The plural of a noun or adjective that follows the rules."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu")) and word != "bleu":
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + "s"


@dataclass(frozen=True, eq=False)
class FrenchVerb:
    """The forms of a verb. Persons count from 0: je, tu, il, nous, vous, ils."""

    infinitive: str
    reflexive: bool
    with_be: bool
    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    participle: str

    @staticmethod
    def parse(text: str) -> tuple["FrenchVerb", str]:
        """The verb that `text` begins with, and the words that follow it: *se laver les mains*."""
        words = text.split()
        reflexive = words[0] == "se"
        infinitive, *tail = words[reflexive:]
        return conjugate(infinitive, reflexive), " ".join(tail)

    def command(self, person: int) -> str:
        """The imperative for *tu* (1) or *nous* (3)."""
        form = self.present[person]
        return form[:-1] if form.endswith("es") or form == "vas" else form


def conjugate(infinitive: str, reflexive: bool = False) -> FrenchVerb:
    """All the forms of a verb."""
    if infinitive in _TABLE:
        _, present_forms, future_stem, participle = _TABLE[infinitive]
        present = tuple(present_forms.split())
    else:
        present, future_stem, participle = _regular(infinitive)
    stem = {"être": "ét", "pleuvoir": "pleuv"}.get(infinitive, present[3].removesuffix("ons"))
    return FrenchVerb(
        infinitive=infinitive,
        reflexive=reflexive,
        with_be=reflexive or infinitive in _WITH_BE,
        present=present,
        imperfect=tuple(_soften(stem, ending) + ending for ending in _IMPERFECT),
        future=tuple(future_stem + ending for ending in _FUTURE),
        participle=participle,
    )


def _soften(stem: str, ending: str) -> str:
    """Nous mangions, not mangeions."""
    if ending[0] == "i":
        return stem[:-1] if stem.endswith("ge") else stem.removesuffix("ç") + "c" if stem.endswith("ç") else stem
    return stem


def _regular(infinitive: str) -> tuple[tuple[str, ...], str, str]:
    """Present, future stem and participle of a regular verb in -er, -ir or -re."""
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        return tuple(stem + e for e in ("is", "is", "it", "issons", "issez", "issent")), infinitive, stem + "i"
    if infinitive.endswith("re"):
        return tuple(stem + e for e in ("s", "s", "", "ons", "ez", "ent")), infinitive[:-1], stem + "u"
    strong, future = _strong(stem)
    nous = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    present = (strong + "e", strong + "es", strong + "e", nous + "ons", stem + "ez", strong + "ent")
    return present, future, stem + "é"


def _strong(stem: str) -> tuple[str, str]:
    """The stem under stress (j'achète, j'appelle, je préfère, je nettoie) and that of the future."""
    if stem.endswith(("oy", "uy")):
        return stem[:-1] + "i", stem[:-1] + "ier"
    if stem in ("appel", "rappel", "jet"):
        return stem + stem[-1], stem + stem[-1] + "er"
    if len(stem) > 2 and stem[-1] in _CONSONANTS and stem[-2] == "e" and stem[-3] not in "aeiou":
        return stem[:-2] + "è" + stem[-1], stem[:-2] + "è" + stem[-1] + "er"
    if stem[-2:-1] == "é" and stem[-1] in _CONSONANTS:
        return stem[:-2] + "è" + stem[-1], stem + "er"
    return stem, stem + "er"
