"""Forward and backward of Headway's model against `torch.nn.Transformer`, on identical batches, dropout on.

Both have the paper's architecture, tied embeddings and label smoothing 0.1. torch's model has its ordinary
dropouts (it drops attention weights and inside the feed-forward layers as well); ours has the paper's.
"""

import statistics
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway import build_model, load_config
from headway.models import EncoderDecoder
from headway.nn.positions import sinusoids
from headway.text.specials import BOS, EOS, MASK, PAD
from headway.train.loss import output_loss
from measure import interleave, machine, options, ratio, report

VOCABULARY = 8000
SMOOTHING = 0.1
Batch = tuple[Tensor, Tensor, Tensor]


class TorchTransformer(nn.Module):
    """The same model from torch's own parts, as its documentation assembles them."""

    def __init__(self, layers: int, d_model: int, d_ff: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.register_buffer("positions", sinusoids(512, d_model))
        self.dropout = nn.Dropout(dropout)
        self.transformer = nn.Transformer(d_model, heads, layers, layers, d_ff, dropout, batch_first=True)
        self.output = nn.Linear(d_model, VOCABULARY, bias=False)
        self.output.weight = self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * self.embedding.embedding_dim**0.5 + self.positions[: ids.size(1)])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        hidden = source == PAD
        states = self.transformer(
            self.embed(source),
            self.embed(target),
            tgt_mask=torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1),
            src_key_padding_mask=hidden,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=hidden,
            tgt_is_causal=True,
        )
        return self.output(states)


def make_batches(count: int, tokens: int) -> list[Batch]:
    """Random sentences of similar lengths together, as a bucketing loader gives them: about 3% padding."""
    generator = torch.Generator().manual_seed(1)

    def sentence(length: int) -> Tensor:
        return torch.randint(MASK + 1, VOCABULARY, (length,), generator=generator)

    def rows(sentences: list[Tensor], before: list[int], after: list[int]) -> Tensor:
        framed = [torch.cat([torch.tensor(before), s, torch.tensor(after)]).long() for s in sentences]
        return nn.utils.rnn.pad_sequence(framed, batch_first=True, padding_value=PAD)

    batches = []
    for _ in range(count):
        length = int(torch.randint(8, 30, (), generator=generator))
        size = tokens // (length + 2)
        lengths = torch.randint(length, length + 2, (2, size), generator=generator).tolist()
        source, target = ([sentence(n) for n in side] for side in lengths)
        batches.append((rows(source, [], [EOS]), rows(target, [BOS], []), rows(target, [], [EOS])))
    return batches


def torch_step(model: TorchTransformer) -> Callable[[Batch], None]:
    def step(batch: Batch) -> None:
        source, target, answer = batch
        model.zero_grad(set_to_none=True)
        logits = model(source, target).flatten(0, 1)
        F.cross_entropy(logits, answer.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING).backward()

    return step


def headway_step(model: EncoderDecoder) -> Callable[[Batch], None]:
    def step(batch: Batch) -> None:
        source, target, answer = batch
        model.zero_grad(set_to_none=True)
        states, _ = model.states(source, target)
        loss = output_loss(states, model.output.weight, answer, SMOOTHING)
        (loss.smoothed / loss.tokens).backward()

    return step


def compare(preset: str, rounds: int, batches: list[Batch]) -> str:
    config = load_config(preset, assignments=[f"model.vocabulary={VOCABULARY}", "model.dropout=0.1"]).model
    torch.manual_seed(1)
    ours = build_model(config)
    assert isinstance(ours, EncoderDecoder)
    theirs = TorchTransformer(config.layers, config.d_model, config.d_ff, config.heads, config.dropout)
    steps = {"torch.nn.Transformer": torch_step(theirs.train()), "headway": headway_step(ours.train())}
    tokens = sum(int((answer != PAD).sum()) for _, _, answer in batches)
    variants = {name: lambda step=step: [step(batch) for batch in batches] for name, step in steps.items()}
    seconds = interleave(variants, rounds)
    rates = {name: statistics.median(tokens / s for s in times) for name, times in seconds.items()}
    median, least, most = ratio(seconds["torch.nn.Transformer"], seconds["headway"])
    return (
        f"| {preset} | {rates['torch.nn.Transformer']:,.0f} | {rates['headway']:,.0f} "
        f"| {median:.2f} ({least:.2f} to {most:.2f}) |"
    )


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=4, help="batches a round")
    parser.add_argument("--tokens", type=int, default=4096, help="target tokens a batch, padding counted")
    parser.add_argument("--presets", nargs="+", default=["small", "base"])
    arguments = parser.parse_args()
    batches = make_batches(arguments.batches, arguments.tokens)
    lines = [
        f"Forward + backward, fp32, dropout 0.1, V = {VOCABULARY:,}, {arguments.batches} batches of at most "
        f"{arguments.tokens:,} target tokens a round, {arguments.rounds} rounds in turns.",
        "",
        "| preset | torch.nn.Transformer, tokens/s | headway, tokens/s | times as fast: median (least to most) |",
        "| --- | --- | --- | --- |",
    ]
    print(machine())
    for preset in arguments.presets:
        lines.append(compare(preset, arguments.rounds, batches))
        print(lines[-1], flush=True)
    report("model_speed", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
