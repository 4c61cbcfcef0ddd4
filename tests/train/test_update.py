"""The gradient of an update: the same however it is cut, repeatable, and found with less memory when it must be."""

import pytest
import torch
import torch.nn.functional as F
from small_runs import fresh_model, prepared, sentences, small_config, vocabulary
from torch import nn

from headway.config import Config
from headway.data.loader import Loader, Rows
from headway.data.prepared import Prepared
from headway.errors import UserError
from headway.text.specials import PAD
from headway.train.batches import BatchMaker, Share
from headway.train.objective import Objective, with_machine_settings
from headway.train.optimizers import build_optimizer
from headway.train.precision import Precision
from headway.train.ranks import ALONE
from headway.train.update import Updater

EXACT = {"dropout": 0.0}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepared(tmp_path_factory.mktemp("data") / "train", sentences())


def rows_of(corpus: Prepared) -> Rows:
    return next(Loader(corpus, lambda rows: rows, tokens=100, seed=1).rows())


def share_of(config: Config, corpus: Prepared, parts: int = 1) -> Share:
    return BatchMaker(config, vocabulary(), parts=parts)(rows_of(corpus))


def updater_of(config: Config, module: nn.Module | None = None, warnings: list[str] | None = None) -> Updater:
    if module is None:
        objective = Objective(fresh_model(config), config.train)
        module = with_machine_settings(objective, config.machine, lambda _: None)
    optimizer = build_optimizer(module, config.train)
    told = warnings if warnings is not None else []
    return Updater(module, optimizer, Precision(config.machine, CPU), ALONE, config.train, told.append)


def gradients(updater: Updater) -> dict[str, torch.Tensor]:
    return {name: weight.grad.clone() for name, weight in updater.module.named_parameters()}


def assert_close(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name], rtol=0, atol=1e-6)


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_parts_give_the_gradient_of_the_mean_over_all_tokens(corpus: Prepared, parts: int) -> None:
    config = small_config(EXACT, label_smoothing=0.1, smoothing="torch")
    updater = updater_of(config)
    stats, _ = updater.gradient(share_of(config, corpus, parts), 1)
    model = fresh_model(config)
    batch = share_of(config, corpus).parts[0].batch
    logits = model(batch.source, batch.target).flatten(0, 1)
    answer = batch.answer.flatten()
    loss = F.cross_entropy(logits, answer, ignore_index=PAD, label_smoothing=0.1)
    loss.backward()
    assert_close(gradients(updater), {f"model.{n}": w.grad for n, w in model.named_parameters()})
    assert stats.loss == pytest.approx(loss.item(), abs=1e-5)
    assert stats.plain == pytest.approx(F.cross_entropy(logits, answer, ignore_index=PAD).item(), abs=1e-5)
    assert stats.tokens == int((answer != PAD).sum())
    norm = torch.cat([w.grad.flatten() for w in model.parameters()]).norm().item()
    assert stats.norm == pytest.approx(norm, rel=1e-5)


def test_more_parts_than_rows_leave_some_idle_and_change_nothing(corpus: Prepared) -> None:
    config = small_config(EXACT)
    whole, cut = updater_of(config), updater_of(config)
    share = share_of(config, corpus, parts=40)
    assert any(not part.numbers for part in share.parts)
    whole.gradient(share_of(config, corpus), 1)
    cut.gradient(share, 1)
    assert_close(gradients(whole), gradients(cut))


def test_an_idle_part_has_zero_gradient(corpus: Prepared) -> None:
    config = small_config()
    idle = next(part for part in share_of(config, corpus, parts=40).parts if not part.numbers)
    updater = updater_of(config)
    stats, _ = updater.gradient(Share([idle], 0), 1)
    assert (stats.loss, stats.tokens, stats.norm) == (0.0, 0, 0.0)
    assert all(not gradient.any() for gradient in gradients(updater).values())


@pytest.mark.parametrize("settings", [{}, {"r_drop": 1.0}])
def test_the_dropout_of_a_step_repeats(corpus: Prepared, settings: dict) -> None:
    config = small_config({"dropout": 0.3, "attention_dropout": 0.2}, **settings)
    updater = updater_of(config)
    share = share_of(config, corpus, parts=2)
    found = []
    for step in (5, 6, 5):
        updater.gradient(share, step)
        torch.rand(7)  # whatever else uses chance in between
        found.append(gradients(updater))
    assert all(found[0][name].equal(found[2][name]) for name in found[0])
    assert not all(found[0][name].equal(found[1][name]) for name in found[0])


def test_computing_activations_again_changes_nothing(corpus: Prepared) -> None:
    dropout = {"dropout": 0.3, "attention_dropout": 0.2}
    configs = [small_config(dropout, {"recompute": again}) for again in (False, True)]
    updaters = [updater_of(config) for config in configs]
    for updater in updaters:
        updater.gradient(share_of(configs[0], corpus), 3)
    assert_close(gradients(updaters[0]), gradients(updaters[1]))


def test_a_long_gradient_is_clipped_and_a_short_one_is_not(corpus: Prepared) -> None:
    config = small_config(EXACT, clip=0.01)
    updater = updater_of(config)
    stats, _ = updater.gradient(share_of(config, corpus), 1)
    before = gradients(updater)
    updater.step(0.0, stats.norm)
    assert stats.norm > 0.01
    assert_close(gradients(updater), {name: x * 0.01 / stats.norm for name, x in before.items()})
    updater.config = config.train.model_copy(update={"clip": 10 * stats.norm})
    updater.gradient(share_of(config, corpus), 1)
    updater.step(0.0, stats.norm)
    assert all(before[name].equal(x) for name, x in gradients(updater).items())


def test_bf16_is_near_fp32(corpus: Prepared) -> None:
    config = small_config(EXACT)
    half = small_config(EXACT, {"precision": "bf16"})
    full, rounded = updater_of(config), updater_of(half)
    stats = [updater.gradient(share_of(config, corpus), 1)[0] for updater in (full, rounded)]
    assert stats[0].loss != stats[1].loss
    assert stats[0].loss == pytest.approx(stats[1].loss, rel=5e-3)
    assert all(gradient.dtype == torch.float32 for gradient in gradients(rounded).values())


class Narrow(nn.Module):
    """An objective on a device that has memory for so many rows."""

    def __init__(self, objective: nn.Module, rows: int) -> None:
        super().__init__()
        self.objective = objective
        self.rows = rows

    def forward(self, batch):
        if len(batch.answer) > self.rows:
            raise torch.OutOfMemoryError("no memory left")
        return self.objective(batch)


def narrow_updater(config: Config, rows: int, warnings: list[str]) -> Updater:
    return updater_of(config, Narrow(Objective(fresh_model(config), config.train), rows), warnings)


def test_out_of_memory_splits_the_batch_and_says_so(corpus: Prepared) -> None:
    config = small_config(EXACT)
    share = share_of(config, corpus)
    count = len(share.parts[0].numbers)
    warnings: list[str] = []
    narrow, wide = narrow_updater(config, -(-count // 3), warnings), updater_of(config)
    stats = [updater.gradient(share, 9)[0] for updater in (narrow, wide)]
    assert stats[0].loss == pytest.approx(stats[1].loss, abs=1e-6)
    plain = {name.removeprefix("objective."): x for name, x in gradients(narrow).items()}
    assert_close(plain, gradients(wide))
    assert len(warnings) == 2
    assert "out of memory in step 9: its batch is computed in 4 parts instead of 2" in warnings[-1]
    assert "train.accumulate=4" in warnings[-1]


def test_out_of_memory_with_one_row_is_an_error(corpus: Prepared) -> None:
    config = small_config()
    with pytest.raises(
        UserError, match=r"out of memory in step 9, with one sentence at a time; lower data\.max_length"
    ):
        narrow_updater(config, 0, []).gradient(share_of(config, corpus), 9)


def test_other_errors_are_not_taken_for_a_lack_of_memory(corpus: Prepared) -> None:
    def fail(*_):
        raise RuntimeError("something else")

    config = small_config()
    updater = updater_of(config)
    updater.module.register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="something else"):
        updater.gradient(share_of(config, corpus), 1)
