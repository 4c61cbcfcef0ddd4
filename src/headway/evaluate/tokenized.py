"""BLEU as older papers count it, on tokens of Moses: for comparison with their tables, beside sacreBLEU.

Plain text comes in; both sides are tokenised here, in the same way. `sacremoses` is Moses' tokenizer in Python.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sacrebleu import BLEU
from sacremoses import MosesPunctNormalizer, MosesTokenizer  # type: ignore[import-untyped]

from headway.evaluate.languages import base_language, has_spaces
from headway.evaluate.resampling import SEED
from headway.evaluate.scores import SAMPLES, Score, measure
from headway.evaluate.texts import References, align

PAPER_NOTE = (
    "as the paper counts: Moses tokens, and a compound with a hyphen is three of them, so that more is easily right; "
    "one WMT14 English-German system has 29.3 in this measure and 28.6 in sacreBLEU"
)
LOWERCASED_NOTE = (
    "as the Multi30k literature counts: Moses tokens in lower case with plain punctuation, so that no capital letter "
    "and no curly quote can be wrong; sacreBLEU tells them apart"
)

Tokenize = Callable[[str], str]


@dataclass(frozen=True)
class TokenizedScore:
    """A BLEU on tokens of Moses, with its label and why it differs from sacreBLEU."""

    label: str
    note: str
    score: Score

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        return asdict(self)


def paper_bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    language: str | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> TokenizedScore | None:
    """The measure of the paper's Table 2; None for languages without spaces, which Moses leaves unsplit."""
    if not has_spaces(language):
        return None
    score = _bleu(hypotheses, references, paper_tokenizer(language), samples, seed)
    return TokenizedScore("the paper's BLEU", PAPER_NOTE, score)


def lowercased_bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    language: str | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> TokenizedScore | None:
    """The measure of the Multi30k literature; None for languages without spaces, which Moses leaves unsplit."""
    if not has_spaces(language):
        return None
    score = _bleu(hypotheses, references, lowercase_tokenizer(language), samples, seed)
    return TokenizedScore("lower-cased tokenised BLEU", LOWERCASED_NOTE, score)


def paper_tokenizer(language: str | None) -> Tokenize:
    """Plain punctuation, Moses tokens, compounds split at hyphens: what tensor2tensor did for the paper."""
    code = base_language(language) or "en"
    punctuation, moses = MosesPunctNormalizer(code), MosesTokenizer(code)

    def tokenize(line: str) -> str:
        tokens = moses.tokenize(punctuation.replace_unicode_punct(line), return_str=True)
        return re.sub(r"(\S)-(\S)", r"\1 ##AT##-##AT## \2", tokens)

    return tokenize


def lowercase_tokenizer(language: str | None) -> Tokenize:
    """Lower case, normal punctuation, Moses tokens: how Multi30k's own tokenised files were made."""
    code = base_language(language) or "en"
    punctuation, moses = MosesPunctNormalizer(code), MosesTokenizer(code)

    def tokenize(line: str) -> str:
        return moses.tokenize(punctuation.normalize(line.lower()), return_str=True)

    return tokenize


def _bleu(hypotheses: Sequence[str], references: References, tokenize: Tokenize, samples: int, seed: int) -> Score:
    """BLEU of tokens as they stand, without smoothing, which is what Moses' multi-bleu computes."""
    lists = align(hypotheses, references)
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    tokens = [tokenize(line) for line in hypotheses]
    return measure(metric, tokens, [[tokenize(line) for line in lines] for lines in lists], samples, seed)
