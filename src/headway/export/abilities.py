"""What CTranslate2 can hold and do: known from settings alone, without the library and without torch."""

from collections.abc import Iterator
from importlib.util import find_spec

from headway.config import ModelConfig, SearchConfig
from headway.errors import UserError, did_you_mean
from headway.search.engine import Wish

EXACT = "float32"
QUANTIZATIONS = (EXACT, "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
"""The types that CTranslate2 stores weights in."""
OUR_NAMES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
"""As `machine.precision` calls three of them."""
CANNOT: dict[Wish, str] = {
    "phrases": "CTranslate2 cannot promise phrases",
    "alignments": "CTranslate2 does not show the attention that search.alignment_layer chooses",
    "alternatives": "CTranslate2 does not say what else could have come",
}


class UnableError(UserError):
    """Something that CTranslate2 cannot hold or do, and our own engine can."""

    def __init__(self, reason: str, advice: str = "use engine torch") -> None:
        super().__init__(f"{reason}; {advice}")
        self.reason = reason


def quantization_name(name: str | None) -> str:
    """CTranslate2's name of a type of weights, by default fp32; an unknown one is refused."""
    found = EXACT if name is None else OUR_NAMES.get(name, name)
    if found not in QUANTIZATIONS:
        raise UserError(f"unknown quantization {name}{did_you_mean(found, QUANTIZATIONS)}")
    return found


def check_installed() -> None:
    """Refuse to go on without the library."""
    if find_spec("ctranslate2") is None:
        raise UnableError("CTranslate2 is not installed", "pip install ctranslate2, or use engine torch")


def check_model(config: ModelConfig, origin: str) -> None:
    """Refuse a model that CTranslate2 cannot hold, with all the reasons."""
    if reasons := list(what_it_lacks(config)):
        raise UnableError(f"{origin} cannot be converted: CTranslate2 has no {', no '.join(reasons)}")


def what_it_lacks(config: ModelConfig) -> Iterator[str]:
    """The parts of a model that CTranslate2 does not have."""
    if config.family != "encoder-decoder":
        yield f"{config.family} model of ours (model.family)"
    if config.score not in ("scaled-dot", "dot"):
        yield f"score function {config.score} (model.score)"
    if config.pattern != "full":
        yield f"{config.pattern} attention (model.pattern)"
    if {config.query_width * config.heads, config.value_width * config.heads} != {config.d_model}:
        yield f"heads of a width other than d_model / heads = {config.d_model // config.heads} (model.d_k, model.d_v)"
    if config.norm != "layer":
        yield f"{config.norm} normalisation (model.norm)"


def check_search(config: SearchConfig) -> None:
    """Refuse a way to search that CTranslate2 does not have."""
    if config.method == "sampling":
        raise UnableError(
            "CTranslate2 cannot sample as search.seed has it: what it draws depends on what it drew before"
        )
