"""`headway doctor`: what works on this machine, what is missing, what is slow. Found one by one, printed elsewhere."""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from headway.allocator import INSTALL, allocator_in_use, find_tcmalloc
from headway.processes import usable_cores
from headway.tasks.installed import installed_version, own_extras, own_requirements, packages

Mark = Literal["ok", "slow", "low", "missing", "failed"]

PURPOSES = {
    "tensorboard": "training curves in TensorBoard (metrics.jsonl has the same numbers)",
    "bench": "other tools to compare with in benchmarks/",
    "dev": "tests, types and lint, for work on Headway itself",
}
"""What each extra gives."""

GIB = 2**30
LOW = 2 * GIB
"""Less memory or disk than this is soon full: a checkpoint of the base model takes 0.7 GiB, and several are kept."""
SECONDS = 2.0
"""How long products are measured."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    mark: Mark
    text: str
    advice: str = ""
    """What to do, if something is to be done."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The same for programs."""

    def as_json(self) -> dict[str, Any]:
        """Everything but the name."""
        return {"mark": self.mark, "text": self.text, "advice": self.advice, "facts": self.facts}


def examine(seconds: float = SECONDS, place: Path = Path()) -> Iterator[Finding]:
    """Look at everything, the basics first; products are measured for about `seconds`, the disk is that of `place`."""
    works = True
    for check in (check_python, check_packages, check_torch, check_tokenizers, check_safetensors):
        finding = _attempt(check)
        works = works and finding.mark != "failed"
        yield finding
    if works:
        yield from check_hardware(seconds)
    yield check_disk(place)
    yield check_allocator()
    yield check_engine()
    yield from check_extras(own_requirements(), own_extras())


def _attempt(check: Callable[[], Finding]) -> Finding:
    """The finding of a check, or why it could not be made: a broken installation can fail in any way."""
    try:
        return check()
    except Exception as error:
        name = check.__name__.removeprefix("check_")
        wanted = next((each.wanted for each in packages(own_requirements()) if each.name == name), "headway")
        advice = f"install it again: pip install --force-reinstall '{wanted}'"
        return Finding(name, "failed", f"{type(error).__name__}: {_first_line(error)}", advice)


def check_python() -> Finding:
    """Which Python runs, and where."""
    version, system = platform.python_version(), f"{platform.system()} {platform.machine()}"
    return Finding("python", "ok", f"{version} on {system}", facts={"version": version, "system": system})


def check_packages() -> Finding:
    """Whether the packages that are always needed have the versions that are asked for."""
    needed = packages(own_requirements())
    facts = {each.name: each.version for each in needed}
    if wrong := [each for each in needed if not each.is_right]:
        advice = "pip install " + " ".join(f"'{each.wanted}'" for each in wrong)
        return Finding("packages", "missing", ", ".join(map(str, wrong)), advice, facts)
    return Finding("packages", "ok", f"all {len(needed)} that Headway needs", facts=facts)


def check_torch() -> Finding:
    """Whether torch computes, and differentiates what it computed."""
    import torch

    inputs = torch.arange(6.0).view(2, 3)
    weights = torch.ones(3, 4, requires_grad=True)
    (inputs @ weights).sum().backward()
    assert weights.grad is not None
    if weights.grad[:, 0].tolist() != [3.0, 5.0, 7.0]:
        raise ArithmeticError("a gradient is wrong")
    return Finding("torch", "ok", f"{torch.__version__} computes", facts={"version": str(torch.__version__)})


def check_tokenizers() -> Finding:
    """Whether a tokenizer can be learned, and gives back what it is given."""
    from headway.text.learn import learn_tokenizer

    text = "The animal didn't cross the street because it was too tired."
    tokenizer = learn_tokenizer([text], size=300)
    if tokenizer.decode(tokenizer.encode(text)) != text:
        raise ValueError("a tokenizer does not give back what it was given")
    version = installed_version("tokenizers")
    return Finding("tokenizers", "ok", f"{version} learns", facts={"version": version})


def check_safetensors() -> Finding:
    """Whether weights come back from the disk as they were."""
    import torch

    from headway.store.tensors import read_tensors, write_tensors

    weights = torch.linspace(-1.0, 1.0, 100)
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        write_tensors(Path(folder) / "weights.safetensors", {"weights": weights})
        again = read_tensors(Path(folder) / "weights.safetensors")["weights"]
    if not torch.equal(again, weights):
        raise ValueError("weights do not come back as they were written")
    version = installed_version("safetensors")
    return Finding("safetensors", "ok", f"{version} reads what it wrote", facts={"version": version})


def check_hardware(seconds: float) -> Iterator[Finding]:
    """What torch has to compute with, and how fast that is."""
    yield check_threads()
    yield check_memory()
    device = check_devices()
    yield device
    if device.mark != "failed":
        yield from check_speed(seconds)


def check_threads() -> Finding:
    """How many threads compute, with which instructions and which library of products."""
    from headway.store.card import machine
    from headway.tasks.machine import product_library

    facts = {**machine(), "usable_cores": usable_cores(), "products": product_library()}
    threads, cores = facts["threads"], facts["usable_cores"]
    text = f"{threads} on {cores} cores, {facts['capability']}, products by {facts['products']}, {facts['processor']}"
    if threads < cores and "OMP_NUM_THREADS" in os.environ:
        return Finding("threads", "slow", text, f"unset OMP_NUM_THREADS to use all {cores} cores", facts)
    return Finding("threads", "ok", text, facts=facts)


def check_devices() -> Finding:
    """The GPUs that torch sees, and whether the device that `machine.device = auto` takes computes."""
    import torch

    from headway.train.precision import choose_device

    device = choose_device("auto")
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    facts = {"auto": str(device), "gpus": gpus}
    try:
        torch.ones(2, 2, device=device).sum().item()
    except RuntimeError as error:
        advice = "train on the CPU: --set machine.device=cpu"
        return Finding("devices", "failed", f"{device}: {_first_line(error)}", advice, facts)
    text = ", ".join(f"cuda:{number} {name}" for number, name in enumerate(gpus)) or str(device)
    return Finding("devices", "ok", f"{text}, no GPU" if text == "cpu" else text, facts=facts)


def check_memory() -> Finding:
    """How much memory is left."""
    from headway.tasks.machine import read_memory

    memory = read_memory()
    if memory is None:
        return Finding("memory", "ok", "not known on this system")
    text = f"{memory.available / GIB:.1f} GiB free of {memory.total / GIB:.1f}"
    return _enough("memory", memory.available, text, "take a smaller preset or train.batch_tokens", memory._asdict())


def check_disk(place: Path) -> Finding:
    """How much room is left for runs in a directory."""
    usage = shutil.disk_usage(place)
    text = f"{usage.free / GIB:.1f} GiB free in {place.resolve()}"
    facts = {"total": usage.total, "available": usage.free}
    return _enough("disk", usage.free, text, "make room, or write runs elsewhere with --out", facts)


def _enough(name: str, available: int, text: str, advice: str, facts: dict[str, Any]) -> Finding:
    if available < LOW:
        return Finding(name, "low", text, advice, facts)
    return Finding(name, "ok", text, facts=facts)


def check_speed(seconds: float) -> Iterator[Finding]:
    """How fast matrices are multiplied in fp32, and whether bf16 is worth having."""
    import torch

    from headway.tasks.machine import product_rate
    from headway.train.precision import choose_device

    device = choose_device("auto")
    full = product_rate(device, torch.float32, 0.8 * seconds)
    yield Finding("fp32", "ok", f"{_rate(full)} in products on {device}", facts={"flops_per_second": full})
    try:
        half = product_rate(device, torch.bfloat16, 0.2 * seconds)
    except RuntimeError as error:
        yield Finding("bf16", "missing", f"{device}: {_first_line(error)}", "keep machine.precision=fp32")
        return
    facts, text = {"flops_per_second": half}, f"{_rate(half)}, {half / full:.1f} times fp32"
    if half < full:
        yield Finding("bf16", "slow", f"{text}: slower here", "keep machine.precision=fp32", facts)
    else:
        yield Finding("bf16", "ok", f"{text}: --set machine.precision=bf16", facts=facts)


def check_allocator() -> Finding:
    """Whether training can have, or has, a faster allocator of memory."""
    used, found = allocator_in_use(), find_tcmalloc() if sys.platform == "linux" else None
    facts = {"used": used, "tcmalloc": found}
    if used != "default":
        return Finding("allocator", "ok", f"{used} is in use", facts=facts)
    if sys.platform != "linux":
        return Finding("allocator", "ok", "that of the system", facts=facts)
    if found is None:
        return Finding("allocator", "missing", "tcmalloc, with which training on the CPU is faster", INSTALL, facts)
    return Finding("allocator", "ok", f"{found} is here: --set machine.allocator=tcmalloc", facts=facts)


def check_engine() -> Finding:
    """Whether the second engine for translation is there; it is not imported, because it would slow torch down."""
    version = installed_version("ctranslate2")
    if version is None:
        text = "a second engine for translation, faster on CPUs"
        return Finding("ctranslate2", "missing", text, "pip install ctranslate2")
    return Finding("ctranslate2", "ok", version, facts={"version": version})


def check_extras(requirements: Iterable[str], extras: Iterable[str]) -> Iterator[Finding]:
    """For each extra, whether its packages are there, and what it gives if they are not."""
    requirements = list(requirements)
    for extra in extras:
        needed = packages(requirements, extra)
        facts = {each.name: each.version for each in needed}
        if all(each.is_right for each in needed):
            yield Finding(extra, "ok", ", ".join(map(str, needed)), facts=facts)
        else:
            missing = ", ".join(str(each) for each in needed if not each.is_right)
            text = f"{PURPOSES[extra]}; needs {missing}" if extra in PURPOSES else f"needs {missing}"
            yield Finding(extra, "missing", text, f"pip install 'headway[{extra}]'", facts)


def _rate(flops: float) -> str:
    return f"{flops / 1e12:,.1f} TFLOP/s" if flops >= 1e12 else f"{flops / 1e9:,.0f} GFLOP/s"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
