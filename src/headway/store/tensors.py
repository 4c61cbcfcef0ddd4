"""Named tensors <-> safetensors files, and the weights of a model <-> named tensors.

torch is loaded on first use: what only looks at a run does without it.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from headway.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor, nn

Tensors = dict[str, "Tensor"]


def model_tensors(model: "nn.Module") -> Tensors:
    """The weights of a model by name, those that are shared once, and what it remembers besides (batch norm)."""
    remembered = model.state_dict().keys()
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in remembered}
    return {**{name: weight.detach() for name, weight in model.named_parameters()}, **buffers}


def load_weights(model: "nn.Module", tensors: Mapping[str, "Tensor"], origin: str) -> None:
    """Copy tensors into a model that has the same names and shapes; `origin` names them in the message if not."""
    import torch

    own = model_tensors(model)
    if missing := sorted(own.keys() - tensors.keys()):
        raise UserError(f"{origin} has no weights for {_some(missing)}; it belongs to a model of other settings")
    if unknown := sorted(tensors.keys() - own.keys()):
        raise UserError(f"{origin} has weights that the model lacks: {_some(unknown)}; the settings differ")
    for name, weight in own.items():
        if weight.shape != tensors[name].shape:
            raise UserError(
                f"{origin}: {name} has shape {tuple(tensors[name].shape)}, the model's is {tuple(weight.shape)}; "
                "the settings or the vocabulary differ"
            )
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(tensors[name])


def write_tensors(path: Path, tensors: Mapping[str, "Tensor"]) -> str:
    """Write a file through to the disk and return its sha256."""
    from safetensors.torch import save

    content = save({name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()})
    return write_through(path, content)


def read_tensors(path: Path) -> Tensors:
    """The tensors of a file, on the CPU."""
    from safetensors.torch import load

    try:
        return load(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except SafetensorError as error:
        raise UserError(f"{path} is damaged: {error}") from None


def write_through(path: Path, content: bytes) -> str:
    """Write bytes to a new file, wait until the disk has them, and return their sha256."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
