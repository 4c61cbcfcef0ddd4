"""Learning rates against closed forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.config import TrainConfig
from headway.train.schedules import build_schedule, constant, cosine, inverse_sqrt, noam

warmups = st.integers(1, 10_000)
steps = st.integers(1, 100_000)


def test_noam_is_the_formula_of_the_paper() -> None:
    # 512^-0.5 * 4000^-0.5, and a step of the rise: 512^-0.5 * 4000^-1.5
    assert noam(4000, 512, 4000) == pytest.approx(6.98771243e-4, rel=1e-8)
    assert noam(1, 512, 4000) == pytest.approx(1.74692811e-7, rel=1e-8)
    assert noam(16_000, 512, 4000) == pytest.approx(6.98771243e-4 / 2, rel=1e-8)
    assert noam(7, 512, 4000, factor=2.0) == 2 * noam(7, 512, 4000)


@given(warmups, steps)
def test_noam_is_highest_exactly_at_the_end_of_its_warm_up(warmup: int, step: int) -> None:
    peak = noam(warmup, 64, warmup)
    assert noam(step, 64, warmup) <= peak * (1 + 1e-12)
    assert noam(warmup + 1, 64, warmup) < peak
    if warmup > 1:
        assert noam(warmup - 1, 64, warmup) < peak


@given(warmups, steps)
def test_noam_is_an_inverse_square_root_with_a_computed_peak(warmup: int, step: int) -> None:
    assert noam(step, 64, warmup) == pytest.approx(inverse_sqrt(step, 0.125 * warmup**-0.5, warmup))


@given(warmups, steps)
def test_all_rise_alike_and_meet_their_peak(warmup: int, step: int) -> None:
    total = warmup + 1000
    rates = [inverse_sqrt(step, 0.5, warmup), cosine(step, 0.5, warmup, total), constant(step, 0.5, warmup)]
    if step <= warmup:
        assert rates == pytest.approx([0.5 * step / warmup] * 3)
    else:
        assert rates[0] == pytest.approx(0.5 * (warmup / step) ** 0.5)
        assert rates[2] == 0.5
    assert max(rates) <= 0.5


@given(warmups, st.integers(2, 10_000))
def test_cosine_falls_to_zero_by_way_of_the_half(warmup: int, falling: int) -> None:
    end = warmup + 2 * falling
    assert cosine(end, 0.5, warmup, end) == pytest.approx(0.0, abs=1e-12)
    assert cosine(warmup + falling, 0.5, warmup, end) == pytest.approx(0.25)
    # Continuous where the rise ends: the next step is as near to the peak as the slope allows.
    assert 0.5 - cosine(warmup + 1, 0.5, warmup, end) < 0.5 * 3.15 / (2 * falling)


@pytest.mark.parametrize("name", ["noam", "inverse-sqrt", "cosine", "constant"])
def test_the_settings_choose_the_schedule(name) -> None:
    config = TrainConfig(schedule=name, warmup=10, steps=50, peak_rate=0.5, rate_factor=3.0)
    expected = {
        "noam": 3 * 16**-0.5 * 40**-0.5,
        "inverse-sqrt": 0.5 * 0.25**0.5,
        "cosine": 0.5 * (1 - 0.5**0.5) / 2,
        "constant": 0.5,
    }
    assert build_schedule(config, 16)(40) == pytest.approx(expected[name])


@pytest.mark.parametrize(("steps", "peak_at"), [(1, 1), (9, 4), (50, 10)])
def test_a_cosine_has_at_least_half_of_all_steps_to_fall(steps: int, peak_at: int) -> None:
    rate = build_schedule(TrainConfig(schedule="cosine", warmup=10, steps=steps, peak_rate=0.5), 16)
    rates = [rate(step) for step in range(1, steps + 1)]
    assert rates.index(max(rates)) + 1 == peak_at
    assert max(rates) == pytest.approx(0.5)
    assert steps == 1 or rates[-1] == pytest.approx(0.0, abs=1e-12)
