"""What the processor can do with vectors, and which of torch's two libraries multiplies faster on it.

Torch multiplies fp32 matrices by MKL, which on other processors than Intel's uses no AVX-512. oneDNN, which comes with
torch as well, does: one core of a Zen 5 has 270 GFLOP/s by it where MKL has 120. What is decided here depends on the
processor alone and not on a measurement, so that a run that is resumed computes as it did before.
"""

from functools import cache

import torch


@cache
def capability() -> str:
    """What the processor can do with vectors, by torch's name."""
    return torch.backends.cpu.get_cpu_capability()


@cache
def is_intel() -> bool:
    """Whether Intel made it."""
    return "Intel" in torch.cpu.get_capabilities().get("cpu_name", "")


def is_packing_worthwhile() -> bool:
    """Whether oneDNN with packed matrices is faster than MKL: not on Intel's own processors, nor where neither is."""
    return capability().startswith("AVX") and torch.backends.mkldnn.is_available() and not is_intel()


def is_onednn_faster() -> bool:
    """Whether oneDNN is faster with matrices as they are."""
    return capability() == "AVX512" and is_packing_worthwhile()
