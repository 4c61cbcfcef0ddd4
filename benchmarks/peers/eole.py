"""eole, the successor of OpenNMT-py: a configuration file, and a log with tokens a second.

Its second rate counts target tokens with the end of sentence, without padding. Its encoder-decoder is pre-norm. It is
asked for speed only.
"""

import json
import re
from pathlib import Path
from typing import Any

from peers.environments import Environment
from peers.system import Plan, System, read_log
from peers.work import Work

REPORTED = re.compile(r"Step\s+\d+/\s*\d+;.*?(?:\d+)/\s*(\d+) tok/s")


def command(environment: Environment, work: Work, plan: Plan, out: Path) -> list[str]:
    words = work.vocabulary.read_text(encoding="utf-8").split()
    names = out / "vocabulary.txt"
    names.write_text("".join(f"{word}\t1\n" for word in words), encoding="utf-8")
    settings = out / "eole.yaml"
    configuration = {
        "data": {
            "train": {"path_src": str(work.side("train", "source")), "path_tgt": str(work.side("train", "target"))}
        },
        "src_vocab": str(names),
        "tgt_vocab": str(names),
        "share_vocab": True,
        "src_vocab_size": len(work.tokenizer),
        "tgt_vocab_size": len(work.tokenizer),
        "save_data": str(out / "data"),
        "overwrite": True,
        "seed": work.config.train.seed,
        "report_every": plan.log_every,
        "model": model(work),
        "training": training(work, plan, out),
    }
    settings.write_text(json.dumps(configuration, indent=1), encoding="utf-8")  # JSON is YAML
    return [environment.program("eole"), "train", "-config", str(settings)]


def model(work: Work) -> dict[str, Any]:
    wanted = work.config.model
    return {
        "architecture": "transformer",
        "layers": wanted.layers,
        "hidden_size": wanted.d_model,
        "heads": wanted.heads,
        "transformer_ff": wanted.d_ff,
        "embeddings": {"word_vec_size": wanted.d_model, "position_encoding_type": "SinusoidalConcat"},
        "share_embeddings": True,
        "share_decoder_embeddings": True,
    }


def training(work: Work, plan: Plan, out: Path) -> dict[str, Any]:
    wanted = work.config.train
    return {
        "model_path": str(out / "model"),
        "world_size": 1,
        "num_workers": 0,
        "bucket_size": 262_144,
        "batch_type": "tokens",
        "batch_size": wanted.batch_tokens,
        "normalization": "tokens",
        "compute_dtype": "fp32",
        "optim": "adam",
        "adam_beta1": wanted.beta1,
        "adam_beta2": wanted.beta2,
        "adam_eps": wanted.epsilon,
        "max_grad_norm": 0.0,
        "decay_method": "noam",
        "warmup_steps": wanted.warmup,
        "learning_rate": wanted.peak_rate * (work.config.model.d_model * wanted.warmup) ** 0.5,  # same peak
        "label_smoothing": wanted.label_smoothing,
        "dropout": [work.config.model.dropout],
        "attention_dropout": [0.0],
        "param_init_method": "xavier_uniform",
        "log_attention_entropy": False,  # by default it computes all weights, only to show their mean
        "train_steps": plan.steps,
        "valid_steps": plan.steps,
        "save_checkpoint_steps": plan.steps,
    }


def rates(out: Path) -> list[float]:
    return [float(rate) for rate in REPORTED.findall(read_log(out))]


EOLE = System("eole", ("eole", "aiohttp"), command, rates)
