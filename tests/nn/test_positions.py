import math

import pytest
import torch

from headway.errors import UserError
from headway.nn.positions import LearnedPositions, NoPositions, Sinusoids, sinusoids


def test_the_paper_interleaves_sines_and_cosines() -> None:
    table = sinusoids(60, 8)
    for position in range(60):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_concatenated_is_the_same_in_another_order() -> None:
    table = sinusoids(60, 8)
    assert sinusoids(60, 8, "concatenated").equal(torch.cat([table[:, 0::2], table[:, 1::2]], dim=1))


def test_tensor2tensor_ends_at_a_timescale_of_exactly_10000() -> None:
    table = sinusoids(60, 8, "concatenated-t2t")
    for position in range(60):
        for i in range(4):
            angle = position / 10000 ** (i / 3)
            assert table[position, i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 4 + i].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_far_positions_are_exact() -> None:
    far = 1_000_000
    assert sinusoids(far + 1, 4)[far, 0].item() == pytest.approx(math.sin(far), abs=1e-6)


def test_the_table_grows_and_is_no_part_of_the_weights() -> None:
    positions = Sinusoids(6)
    x = torch.zeros(1, 3, 6)
    assert positions(x, start=1000)[0].equal(sinusoids(1003, 6)[1000:])
    assert positions(x)[0].equal(sinusoids(3, 6))
    assert not positions.state_dict()


def test_learned_positions_end_with_a_clear_message() -> None:
    positions = LearnedPositions(4, max_positions=10)
    assert positions(torch.zeros(2, 3, 4), start=7)[1].equal(positions.table[7:])
    with pytest.raises(UserError, match=r"a sequence of 11 tokens, but the model has learned only 10 positions"):
        positions(torch.zeros(2, 11, 4))
    with pytest.raises(UserError, match="a sequence of 12 tokens"):
        positions(torch.zeros(2, 2, 4), start=10)


def test_no_positions() -> None:
    x = torch.randn(2, 3, 4)
    assert NoPositions()(x).equal(x)
