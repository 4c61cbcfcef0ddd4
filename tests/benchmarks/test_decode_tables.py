"""The ratios of the decoding benchmark: calls are compared with the same calls of the same round."""

from decode_processes import Measurement
from decode_tables import SIZED, fastest, in_batches, one_by_one, spread


def measured(seconds: list[float], latencies: list[list[float]]) -> Measurement:
    return Measurement(seconds, latencies, texts=["a"], tokens=1, peak=0, start=0.0)


SLOW = measured([4.0, 12.0, 6.0], [[1.0, 8.0, 4.0], [3.0, 2.0, 4.0]])
FAST = measured([2.0, 3.0, 2.0], [[1.0, 2.0, 2.0], [1.0, 2.0, 2.0]])


def test_batches_are_compared_round_by_round():
    assert spread(SLOW, FAST, in_batches) == "3.00 (2.00 to 4.00)"  # a slow round is slow for both


def test_single_sentences_are_compared_one_by_one():
    assert spread(SLOW, FAST, one_by_one) == "2.00 (2.00 to 2.00)"  # medians of 1, 4, 2 and of 3, 1, 2


def test_the_fastest_is_the_one_with_the_lowest_median():
    rows = {"CTranslate2 a": SLOW, "CTranslate2 b": FAST, "headway": measured([0.1], [[0.1]])}
    sized = {**rows, f"CTranslate2 a{SIZED}32": measured([1.0, 1.0], [[0.5], [0.5]])}
    assert fastest(rows, "CTranslate2", in_batches) == "CTranslate2 b"
    assert fastest(rows, "CTranslate2", one_by_one) == "CTranslate2 b"
    assert fastest(sized, "CTranslate2", in_batches) == "CTranslate2 a, batches of 32"
    assert fastest(sized, "CTranslate2", one_by_one) == "CTranslate2 b"  # which have no batches
