import pytest
import torch

from headway.nn.masks import Band, Full, TopK, padding_mask, real_tokens


def rows(mask: torch.Tensor) -> list[str]:
    return ["".join("x" if seen else "." for seen in row) for row in mask.tolist()]


def test_padding_is_hidden_from_every_query() -> None:
    ids = torch.tensor([[5, 6, 7], [5, 0, 0]])
    assert padding_mask(real_tokens(ids)).tolist() == [[[[True, True, True]]], [[[True, False, False]]]]


def test_causal() -> None:
    assert rows(Full(causal=True).mask(3, 3)) == ["x..", "xx.", "xxx"]


def test_queries_stand_at_the_end_of_the_keys() -> None:
    assert rows(Full(causal=True).mask(2, 4)) == ["xxx.", "xxxx"]
    assert Full(causal=True).mask(1, 4) is None
    assert rows(Band(2, causal=True).mask(1, 4)) == ["..xx"]


def test_full_allows_everything() -> None:
    assert Full().mask(3, 3) is None


def test_window_of_an_odd_and_an_even_width() -> None:
    assert rows(Band(3).mask(5, 5)) == ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"]
    assert rows(Band(2).mask(4, 4)) == ["x...", "xx..", ".xx.", "..xx"]


def test_causal_window_ends_at_the_query() -> None:
    assert rows(Band(3, causal=True).mask(5, 5)) == ["x....", "xx...", "xxx..", ".xxx.", "..xxx"]


def test_dilated_window() -> None:
    assert rows(Band(3, dilation=2).mask(6, 6)) == ["x.x...", ".x.x..", "x.x.x.", ".x.x.x", "..x.x.", "...x.x"]


def test_strided_with_a_global_position() -> None:
    assert rows(Band(2, dilation=2, global_positions=1).mask(5, 5)) == ["xxxxx", "xx...", "x.x..", "xx.x.", "x.x.x"]


def test_causal_global_positions_see_no_future() -> None:
    assert rows(Band(2, 2, 2, causal=True).mask(5, 5)) == ["x....", "xx...", "xxx..", "xx.x.", "xxx.x"]


@pytest.mark.parametrize("width", range(1, 9))
@pytest.mark.parametrize("causal", [False, True])
def test_a_band_sees_as_many_positions_as_it_is_wide(width: int, causal: bool) -> None:
    middle = Band(width, causal=causal).mask(40, 40)[20]
    assert middle.sum() == width
    assert middle[20]


def test_top_k_keeps_the_largest_and_all_that_equal_the_last_of_them() -> None:
    scores = torch.tensor([[1.0, 4.0, 2.0, 3.0], [1.0, 1.0, 0.0, 5.0]])
    assert rows(TopK(2).is_kept(scores)) == [".x.x", "xx.x"]
    assert rows(TopK(9).is_kept(scores)) == ["xxxx", "xxxx"]
