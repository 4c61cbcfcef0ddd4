"""Our own engine in several processes of one thread each: more sentences a second than one process of several threads.

A batch goes to whichever process is free, so that none has nothing to do while another has sentences that do not end.
"""

import json
import queue
import weakref
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from headway.errors import UserError
from headway.processes import Worker, receive, send
from headway.search.engine import BATCH_TOKENS, Part, Wish
from headway.search.results import Hypothesis
from headway.tasks.engines import Request

if TYPE_CHECKING:
    from torch import Tensor

    from headway.search.alternatives import Alternative


class TorchProcesses:
    """The engine of a request, `count` times. They take a moment to start."""

    name = "torch"

    def __init__(self, request: Request, count: int) -> None:
        self.workers = count
        self.batch_tokens = request.config.search.batch_tokens or BATCH_TOKENS
        order = json.dumps(
            {
                "run": str(request.run.path),
                "checkpoint": request.checkpoint.path.name,
                "config": request.config.model_dump_json(),
                "ensemble": [str(run.path) for run in request.ensemble],
            }
        ).encode()
        started = [Worker("headway.tasks.torch_worker", order, "translates") for _ in range(count)]
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self.close = weakref.finalize(self, _end, started)
        """Ends the processes, whatever they are at."""
        try:
            with ThreadPoolExecutor(count) as threads:
                self._reasons: dict[Wish, str | None] = next(iter(list(threads.map(_begin, started))))
        except BaseException:
            self.close()
            raise
        for worker in started:
            self._free.put(worker)

    def cannot(self, wish: Wish) -> str | None:
        """What our own engine cannot do."""
        return self._reasons[wish]

    def decode(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The best outputs of each part, best first."""
        return _hypotheses(self._ask("decode", parts=_written(parts))[0])

    def score(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The given targets of parts as hypotheses, one each."""
        return _hypotheses(self._ask("score", parts=_written(parts))[0])

    def cross_attention(self, parts: Sequence[Part], written: Sequence[Sequence[int]]) -> "Tensor":
        """The weights (B, H, T, S) with which the tokens written look at the sources."""
        import torch

        shape, data = self._ask("cross_attention", parts=_written(parts), written=written)
        return torch.frombuffer(bytearray(data), dtype=torch.float32).view(shape)

    def alternatives(self, part: Part, before: Sequence[int], count: int) -> "list[Alternative]":
        """The best `count` tokens after the beginning `before` of an output, and how each goes on."""
        from headway.search.alternatives import Alternative

        found, _ = self._ask("alternatives", parts=_written([part]), before=before, count=count)
        return [Alternative(**{**each, "output": Hypothesis(**each["output"])}) for each in found]

    def _ask(self, method: str, **arguments: Any) -> tuple[Any, bytes]:
        """What a process that is free answers."""
        worker = self._free.get()
        try:
            return _call(worker, {"method": method, **arguments})
        finally:
            self._free.put(worker)


def _begin(worker: Worker) -> dict[Wish, str | None]:
    """Wait until a process has loaded its model: what it cannot do."""
    reasons: dict[Wish, str | None] = _call(worker, {"method": "cannot"})[0]
    return reasons


def _end(workers: Iterable[Worker]) -> None:
    for worker in workers:
        worker.close()


def _call(worker: Worker, question: dict[str, Any]) -> tuple[Any, bytes]:
    """An answer is JSON, then bytes."""
    data = json.dumps(question).encode()
    found, rest = worker.ask(lambda stream: send(stream, data), lambda stream: (receive(stream), receive(stream)))
    answer = json.loads(found)
    if "error" in answer:
        raise UserError(answer["error"])
    return answer["found"], rest


def _written(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [vars(part) for part in parts]


def _hypotheses(found: list[list[dict[str, Any]]]) -> list[list[Hypothesis]]:
    return [[Hypothesis(**each) for each in outputs] for outputs in found]
