"""Small runs to convert: with random weights, or with some that have learned to copy."""

import json
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from headway.config import Config, ModelConfig, SearchConfig
from headway.export.ctranslate2 import convert
from headway.models import EncoderDecoder, build_model
from headway.search.engine import Part
from headway.search.rules import NEVER_WRITTEN
from headway.store.card import make_card
from headway.store.checkpoints import step_name
from headway.store.run import Run
from headway.store.tensors import model_tensors
from headway.text.learn import learn_tokenizer
from headway.text.specials import BOS, EOS, PAD
from headway.text.vocabulary import Vocabulary

TEXT = ["The animal did not cross the street, because it was too tired.", "Le chien dort : il est fatigué !"] * 3
SHARED = Vocabulary(*[learn_tokenizer(TEXT, size=320)] * 2)
SEPARATE = Vocabulary(learn_tokenizer(TEXT, "character", 300), SHARED.target)
SIZES = {"layers": 2, "d_model": 16, "d_ff": 32, "heads": 2}
PIECES = range(5 + 256, len(SHARED.target))
"""The tokens of both sides that are no bytes: what the copying model knows."""


def config_for(vocabulary: Vocabulary = SHARED, **model) -> Config:
    sizes: dict = {"vocabulary": len(vocabulary.source)}
    search = SearchConfig(extra_length=6)  # or outputs of models that never end would take long
    if not vocabulary.is_shared:
        sizes |= {"target_vocabulary": len(vocabulary.target), "share_embeddings": "target-output"}
    return Config(model=ModelConfig(**{**SIZES, **sizes, **model}), search=search)


def random_model(config: Config) -> EncoderDecoder:
    """A model in which every weight, biases and norms included, matters."""
    model = build_model(config.model).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)  # more certain than fresh weights are, so that nothing hangs on rounding
            if weight.dim() == 1:
                weight.add_(0.1 * torch.randn_like(weight))
    assert isinstance(model, EncoderDecoder)
    forget_specials(model)
    return model


@torch.no_grad()
def forget_specials(model: EncoderDecoder) -> None:
    """Make improbable what is never written, as training does: CTranslate2 spreads its probability over the rest."""
    last = model.decoder.norm or model.decoder.layers[-1].feed_forward_residual.norm
    last.weight[0], last.bias[0] = 0.0, 1.0
    model.output.weight[NEVER_WRITTEN, 0] = -20.0


@cache
def copying_model(norm_place: str, updates: int = 200) -> EncoderDecoder:
    """A model that has nearly learned to copy, so that it ends its outputs and is sometimes in doubt."""
    torch.manual_seed(1)
    config = config_for(d_model=32, d_ff=64, norm_place=norm_place, dropout=0.0)
    model = build_model(config.model)
    assert isinstance(model, EncoderDecoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(updates):
        source, target = copy_batch(48)
        logits = model(source, F.pad(target[:, :-1], (1, 0), value=BOS))
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def copy_batch(rows: int) -> tuple[Tensor, Tensor]:
    """Sources (B, S) with EOS and padding, and the targets: the same."""
    source = torch.randint(PIECES.start, PIECES.stop, (rows, 7))
    for row, length in enumerate(torch.randint(1, 7, (rows,)).tolist()):
        source[row, length] = EOS
        source[row, length + 1 :] = PAD
    return source, source


def part_of(source: list[int], **facts) -> Part:
    return Part(1, 0, "", source, **facts)


def samples(rows: int, tokens: range = PIECES) -> list[Part]:
    """Sentences of random tokens, of lengths from 1 to 6, as the copying model has seen them."""
    sizes = torch.randint(1, 7, (rows,)).tolist()
    return [part_of(torch.randint(tokens.start, tokens.stop, (size,)).tolist()) for size in sizes]


def sources_of(sentences: list[Part]) -> Tensor:
    """Their sources (B, S), with EOS."""
    rows = [torch.tensor([*sentence.source, EOS]) for sentence in sentences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def run_of(path: Path, model: EncoderDecoder, config: Config, vocabulary: Vocabulary = SHARED) -> Run:
    """A run whose only checkpoint has the weights of a model."""
    card = make_card(["headway"], 1, {}, vocabulary.fingerprint)
    run = Run.create(path, config, vocabulary, card)
    save(run, 1, model)
    return run


def save(run: Run, step: int, model: EncoderDecoder) -> None:
    run.checkpoints.write(step_name(step), model_tensors(model), {}, {"step": step})


def copying_run(path: Path, norm_place: str = "pre", *, with_data: bool = True) -> Run:
    """A run of the copying model, with validation sentences."""
    config = config_for(d_model=32, d_ff=64, norm_place=norm_place, dropout=0.0)
    run = run_of(path, copying_model(norm_place), config)
    if with_data:
        decode = SHARED.source.decode
        torch.manual_seed(2)  # whether the model was made just now or before
        texts = [decode(sentence.source) for sentence in samples(30)]
        run.data.mkdir()
        records = [json.dumps({"source": text, "target": text}) for text in texts]
        (run.data / "valid.jsonl").write_text("\n".join(records), encoding="utf-8")
    return run


def convert_model(path: Path, model: EncoderDecoder, config: Config, vocabulary: Vocabulary = SHARED) -> Path:
    """The directory of a model, converted."""
    convert(run_of(path / "run", model, config, vocabulary), path / "converted")
    return path / "converted"
