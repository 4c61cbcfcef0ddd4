"""A plain training loop around HF's MarianMT; runs in the environment of `transformers`, where Headway is not.

Takes one file of settings (see `huggingface.py`) and prints JSON lines: rates, and where the translations of the
validation sentences lie.
"""

import json
import random
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianConfig, MarianMTModel

PAD, BOS, EOS = 0, 1, 2
MAX_POSITIONS = 512
MAX_OUTPUT = 100
Pair = tuple[list[int], list[int]]


def read_ids(path: str) -> list[list[int]]:
    """The ids of each line, and the end of sentence."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [[int(word[1:]) for word in line.split()] + [EOS] for line in lines]


def cut_batches(pairs: list[Pair], tokens: int, chance: random.Random) -> list[list[Pair]]:
    """Pairs of similar lengths together, at most so many tokens a side, padding counted; the batches in any order."""
    chance.shuffle(pairs)
    pairs.sort(key=lambda pair: (len(pair[1]), len(pair[0])))
    batches: list[list[Pair]] = [[]]
    longest = 0
    for pair in pairs:
        longest = max(longest, *map(len, pair))
        if batches[-1] and longest * (len(batches[-1]) + 1) > tokens:
            batches.append([])
            longest = max(map(len, pair))
        batches[-1].append(pair)
    chance.shuffle(batches)
    return batches


def padded(rows: list[list[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def build(settings: SimpleNamespace) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=settings.vocabulary,
        d_model=settings.d_model,
        encoder_layers=settings.layers,
        decoder_layers=settings.layers,
        encoder_attention_heads=settings.heads,
        decoder_attention_heads=settings.heads,
        encoder_ffn_dim=settings.d_ff,
        decoder_ffn_dim=settings.d_ff,
        dropout=settings.dropout,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=MAX_POSITIONS,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        decoder_start_token_id=BOS,
        init_std=settings.d_model**-0.5,
    )
    return MarianMTModel(config)


def rate_at(step: int, settings: SimpleNamespace) -> float:
    """Up during the warm-up, then down with the root of the step."""
    return settings.peak_rate * min(step / settings.warmup, (settings.warmup / step) ** 0.5)


def update(model: MarianMTModel, optimizer: torch.optim.Adam, batch: list[Pair], smoothing: float) -> int:
    """One update; returns the real target tokens of the batch."""
    source, answer = padded([pair[0] for pair in batch]), padded([pair[1] for pair in batch])
    target = padded([[BOS, *pair[1][:-1]] for pair in batch])
    optimizer.zero_grad()
    logits = model(input_ids=source, attention_mask=source != PAD, decoder_input_ids=target).logits
    F.cross_entropy(logits.flatten(0, 1), answer.flatten(), ignore_index=PAD, label_smoothing=smoothing).backward()
    optimizer.step()
    return sum(len(pair[1]) for pair in batch)


@torch.inference_mode()
def translate(model: MarianMTModel, sources: list[list[int]], path: Path) -> None:
    """Greedy translations of the sentences, in words, to a file."""
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    lines = [""] * len(sources)
    model.eval()
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        source = padded([sources[number] for number in chosen])
        found = model.generate(
            input_ids=source, attention_mask=source != PAD, num_beams=1, do_sample=False, max_new_tokens=MAX_OUTPUT
        )
        for number, ids in zip(chosen, found.tolist(), strict=True):
            lines[number] = " ".join(f"t{token}" for token in ids if token > EOS)
    model.train()
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def tell(**record: object) -> None:
    print(json.dumps(record), flush=True)


def train(settings: SimpleNamespace) -> None:
    chance = random.Random(1)
    torch.manual_seed(1)
    pairs = list(zip(read_ids(settings.train_source), read_ids(settings.train_target), strict=True))
    valid = read_ids(settings.valid_source)
    model = build(settings).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    step, tokens, seconds, began, batches = 0, 0, 0.0, time.perf_counter(), []
    window = (0, 0.0)
    while step < settings.steps:
        batches = batches or cut_batches(pairs, settings.batch_tokens, chance)
        step += 1
        optimizer.param_groups[0]["lr"] = rate_at(step, settings)
        tokens += update(model, optimizer, batches.pop(), settings.smoothing)
        now = time.perf_counter()
        seconds, began = seconds + now - began, now
        if step % settings.log_every == 0:
            tell(step=step, tokens_per_second=(tokens - window[0]) / (seconds - window[1]))
            window = (tokens, seconds)
        if settings.validate_every and step % settings.validate_every == 0:
            path = Path(settings.out) / f"{step}.hyps"
            translate(model, valid, path)
            tell(step=step, seconds=seconds, translations=str(path))
            began = time.perf_counter()


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    train(SimpleNamespace(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
