"""Each family learns to copy and to reverse, to more than 98% exact match on sequences it never saw."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from headway.config import ModelConfig
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly, Model, build_model
from headway.text.specials import BOS, EOS, MASK, PAD

SYMBOLS = 10
FIRST = MASK + 1
VOCABULARY = FIRST + SYMBOLS
LONGEST = 8
STEPS = 700

Task = Callable[[Tensor], Tensor]
TASKS: dict[str, Task] = {"copy": lambda x: x, "reverse": lambda x: x.flip(0)}


def examples(count: int, task: Task) -> list[tuple[Tensor, Tensor]]:
    lengths = torch.randint(2, LONGEST + 1, (count,)).tolist()
    sequences = [torch.randint(FIRST, VOCABULARY, (n,)) for n in lengths]
    return [(x, task(x)) for x in sequences]


def pad(rows: list[Tensor]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def framed(*parts: int | Tensor) -> Tensor:
    return torch.cat([torch.tensor([p]) if isinstance(p, int) else p for p in parts])


def inputs_and_targets(model: Model, pairs: list[tuple[Tensor, Tensor]]) -> tuple[list[Tensor], Tensor]:
    """What the model is given and what it must say at each position; PAD where nothing is asked."""
    if isinstance(model, EncoderDecoder):
        sides = [pad([framed(x, EOS) for x, _ in pairs]), pad([framed(BOS, y) for _, y in pairs])]
        return sides, pad([framed(y, EOS) for _, y in pairs])
    if isinstance(model, EncoderOnly):
        return [pad([framed(x, EOS) for x, _ in pairs])], pad([framed(y, EOS) for _, y in pairs])
    questions = [framed(x, BOS, y) for x, y in pairs]
    silence = [framed(torch.full_like(x, PAD), y, EOS) for x, y in pairs]
    return [pad(questions)], pad(silence)


def train(model: Model, task: Task) -> None:
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    model.train()
    for step in range(1, STEPS + 1):
        optimizer.param_groups[0]["lr"] = 2e-3 * min(step / 100, 1) * min(1, 2 * (1 - step / (STEPS + 1)))
        sides, targets = inputs_and_targets(model, examples(64, task))
        loss = F.cross_entropy(model(*sides).flatten(0, 1), targets.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def write(model: EncoderDecoder | DecoderOnly, question: Tensor) -> Tensor:
    """Decode greedily, step by step, until EOS."""
    is_pair = isinstance(model, EncoderDecoder)
    state = model.start(framed(question, EOS)[None] if is_pair else question[None])
    written = [BOS]
    while written[-1] != EOS and len(written) <= LONGEST + 2:
        log_probabilities, state = model.step(torch.tensor(written[-1:]), state)
        written.append(int(log_probabilities.argmax()))
    return torch.tensor(written[1:-1])


@torch.no_grad()
def exact_match(model: Model, pairs: list[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    if isinstance(model, EncoderOnly):
        sides, targets = inputs_and_targets(model, pairs)
        right = (model(*sides).argmax(-1) == targets) | (targets == PAD)
        return right.all(dim=1).float().mean().item()
    return sum(write(model, x).equal(y) for x, y in pairs) / len(pairs)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", ["encoder-decoder", "encoder-only", "decoder-only"])
def test_a_family_learns_a_task(family: str, task: str) -> None:
    config = ModelConfig(
        family=family, vocabulary=VOCABULARY, layers=2, d_model=64, d_ff=128, heads=4, dropout=0.0, norm_place="pre"
    )
    model = build_model(config)
    train(model, TASKS[task])
    torch.manual_seed(2)
    assert exact_match(model, examples(500, TASKS[task])) > 0.98
