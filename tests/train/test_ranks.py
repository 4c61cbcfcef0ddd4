"""Two ranks learn what one process learns: the same losses, the same weights, whatever is spread over them."""

import math
import time
from pathlib import Path

import pytest
import torch
from small_runs import create_run, new_trainer, prepared, sentences, small_config, trainer_of
from two_ranks import on_two_ranks, trainer_on_rank

from headway.config import Config
from headway.errors import UserError
from headway.models import Model
from headway.store.metrics import read_metrics
from headway.store.run import Run
from headway.store.tensors import model_tensors
from headway.train.events import Warned
from headway.train.finishing import finish
from headway.train.ranks import Ranks, is_first_to_fail
from headway.train.trainer import Trainer
from headway.train.validation import Judgement

EXACT = {"dropout": 0.0}
RECIPES = {
    "plain": {},
    "accumulation and clipping": {"accumulate": 3, "clip": 0.1},
    "moving average": {"ema": 0.9},
    "fewer rows than ranks": {"batch_tokens": 8},
}
KINDS = ("ddp", "fsdp")


def config_of(recipe: str, kind: str = "ddp", **more) -> Config:
    return small_config(EXACT, {"parallel": kind, "threads": 1}, log_every=1, **RECIPES[recipe], **more)


def with_data(path: Path, config: Config) -> Path:
    """A run that a rank can open."""
    run = create_run(path, config)
    prepared(run.data / "train", sentences()[:50]).close()
    prepared(run.data / "valid", sentences()[50:]).close()
    return path


def weight_sum(model: Model) -> Judgement:
    """A judge that needs all weights of a model, wherever they are, again and again."""
    tokens = torch.tensor([[5, 6, 7]])
    for _ in range(2):
        state = model.start(tokens)
        log_probabilities, _ = model.step(tokens[:, 0], state)
    return Judgement({"bleu": float(log_probabilities.exp().max())})


def end(trainer: Trainer) -> None:
    finish(trainer, trainer.train(trainer.run.checkpoints.latest())[0])


def train_together(ranks: Ranks, place: Path) -> None:
    """Every recipe on both ranks, and the second half of a run that one process began."""
    for kind in KINDS:
        for recipe in RECIPES:
            end(trainer_on_rank(place / kind / recipe, ranks, judge=weight_sum))
        end(trainer_on_rank(place / kind / "begun alone", ranks, judge=weight_sum))
        fall_ill(ranks, place / kind / "ill")
    run_out_of_memory(ranks, place / "out of memory")


def fall_ill(ranks: Ranks, path: Path) -> None:
    """The second part of the second rank's share of step 2 is not finite; the batch is left out."""
    warnings: list[str] = []
    trainer = trainer_on_rank(
        path, ranks, watch=lambda event: warnings.append(event.text) if isinstance(event, Warned) else None
    )
    calls = []

    def spoil(module, _, output):
        if not module.training:
            return None
        calls.append(module)
        # Parts 3 and 4 are those of step 2, which are looked at again as 5 and 6.
        return (output[0] * math.inf, output[1]) if ranks.rank == 1 and len(calls) in (4, 6) else None

    trainer.model.encoder.register_forward_hook(spoil)
    trainer.train()
    (path / f"warnings-{ranks.rank}").write_text("\n".join(warnings))


def run_out_of_memory(ranks: Ranks, path: Path) -> None:
    """The second rank does, and says so while the first still waits for it."""
    trainer = trainer_on_rank(path, ranks)

    def fail(*_):
        raise torch.OutOfMemoryError("no memory left")

    if ranks.rank == 1:
        trainer.model.encoder.register_forward_hook(fail)
    try:
        trainer.train()
    except UserError as error:
        while ranks.is_first and not (path / "error-1").exists():
            time.sleep(0.01)
        (path / f"error-{ranks.rank}").write_text(f"{error}\n{is_first_to_fail()}")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each recipe was trained by two ranks, and by one process."""
    place = tmp_path_factory.mktemp("runs")
    for recipe in RECIPES:
        end(trainer_of(Run.open(with_data(place / "alone" / recipe, config_of(recipe))), judge=weight_sum))
    for kind in KINDS:
        for recipe in RECIPES:
            with_data(place / kind / recipe, config_of(recipe, kind))
        half = new_trainer(place / kind / "begun alone", config_of("moving average", kind, steps=6), judge=weight_sum)
        end(half)
        half.run.write_config(config_of("moving average", kind))
        with_data(place / kind / "ill", config_of("plain", kind, accumulate=2, on_nonfinite="skip", steps=3))
    with_data(place / "out of memory", config_of("accumulation and clipping"))
    on_two_ranks(train_together, place)
    return place


def losses(path: Path) -> list[float]:
    return [record["loss"] for record in read_metrics(path / "metrics.jsonl") if "loss" in record]


def assert_same_weights(ours: Run, theirs: Run) -> None:
    one, other = ours.checkpoints.latest(), theirs.checkpoints.latest()
    assert one is not None
    assert other is not None
    assert one.step == other.step
    for found, expected in ((one.weights(), other.weights()), (one.optimizer(), other.optimizer())):
        assert found.keys() == expected.keys()
        for name, tensor in found.items():
            torch.testing.assert_close(tensor, expected[name], rtol=0, atol=1e-5, msg=name)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("kind", KINDS)
def test_two_ranks_learn_what_one_process_does(place: Path, kind: str, recipe: str) -> None:
    together, alone = Run.open(place / kind / recipe), Run.open(place / "alone" / recipe)
    assert len(losses(together.path)) == 12
    assert losses(together.path) == pytest.approx(losses(alone.path), abs=1e-5)
    assert_same_weights(together, alone)
    assert together.result["scores"] == pytest.approx(alone.result["scores"], rel=1e-5)
    assert together.result["checkpoint"] == alone.result["checkpoint"]
    weights = together.chosen().weights()
    assert all(weight.equal(weights[name]) for name, weight in model_tensors(together.load_model()).items())


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_with_more_ranks_and_with_fewer(place: Path, kind: str) -> None:
    alone = Run.open(place / "alone" / "moving average")
    assert_same_weights(Run.open(place / kind / "begun alone"), alone)
    together = Run.open(place / kind / "moving average")
    middle = next(checkpoint for checkpoint in together.checkpoints.steps() if checkpoint.step == 4)
    trainer_of(together).train(middle)
    assert_same_weights(together, alone)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_finite_is_found_on_whichever_rank_it_is(place: Path, kind: str) -> None:
    said = [(place / kind / "ill" / f"warnings-{rank}").read_text() for rank in range(2)]
    assert said[1] == ""
    assert "the loss of step 2 is not a finite number: first in the output of encoder;" in said[0]
    trainer = trainer_of(Run.open(place / kind / "ill"))
    rows = list(trainer.loader.epoch(0))[1].numbers[1::2]  # the second rank's of the second batch
    told = [int(line.split(":")[0].removeprefix("  pair ")) - 1 for line in said[0].splitlines() if "  pair " in line]
    assert told == rows[len(rows) // 2 :][: len(told)]
    assert len(losses(place / kind / "ill")) == 3


def test_out_of_memory_is_told_by_the_rank_that_is(place: Path) -> None:
    first, second = ((place / "out of memory" / f"error-{rank}").read_text().splitlines() for rank in range(2))
    assert second == ["rank 1 is out of memory in step 1; let all ranks work in smaller parts: "
                      "--set train.accumulate=6", "True"]  # fmt: skip
    assert first[0].startswith("rank 0 of 2 waited in vain for the others in step 1 (")
    assert first[1] == "False"
