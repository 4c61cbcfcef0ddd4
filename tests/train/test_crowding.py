"""Cores that other programs hold are noticed, and those that are free are not."""

import pytest

from headway.train.crowding import ENOUGH_SECONDS, Crowding


class Machine:
    """A clock, and the processor's time that a program gets."""

    def __init__(self) -> None:
        self.now = self.used = 0.0

    def compute(self, crowding: Crowding, seconds: float, cores: float) -> None:
        with crowding.computing():
            self.now += seconds
            self.used += seconds * cores
        self.now += 1000.0  # what is done between updates does not count


@pytest.fixture
def machine() -> Machine:
    return Machine()


def crowding_on(machine: Machine, threads: int) -> Crowding:
    return Crowding(threads, lambda: machine.now, lambda: machine.used)


def test_free_cores_are_no_reason_to_speak(machine: Machine) -> None:
    crowding = crowding_on(machine, 4)
    for _ in range(10):
        machine.compute(crowding, ENOUGH_SECONDS, 3.9)
        assert crowding.look() is None


def test_what_others_take_is_said_once_and_not_too_early(machine: Machine) -> None:
    crowding = crowding_on(machine, 4)
    machine.compute(crowding, ENOUGH_SECONDS / 2, 2.5)
    assert crowding.look() is None
    machine.compute(crowding, ENOUGH_SECONDS / 2, 2.5)
    warning = crowding.look() or ""
    assert "4 threads get 2.5 cores" in warning
    assert warning.endswith("--resume --set machine.threads=2")
    machine.compute(crowding, ENOUGH_SECONDS, 1.0)
    assert crowding.look() is None


def test_cores_that_are_taken_later_are_noticed_too(machine: Machine) -> None:
    crowding = crowding_on(machine, 2)
    for _ in range(100):
        machine.compute(crowding, ENOUGH_SECONDS, 2.0)
        assert crowding.look() is None
    machine.compute(crowding, ENOUGH_SECONDS, 0.7)
    assert "machine.threads=1" in (crowding.look() or "")


def test_one_thread_waits_for_nobody(machine: Machine) -> None:
    crowding = crowding_on(machine, 1)
    machine.compute(crowding, 10 * ENOUGH_SECONDS, 0.5)
    assert crowding.look() is None
