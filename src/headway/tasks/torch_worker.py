"""A process with our own engine: on standard input an order comes in, then questions; their answers go out."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, Any, get_args

from headway.config import Config
from headway.errors import UserError
from headway.processes import Talk, receive, send, serve
from headway.search.engine import Part, Wish
from headway.search.torch_engine import TorchEngine
from headway.search.translator import FAILURES
from headway.store.run import Run
from headway.tasks.torch_models import open_torch

Answer = tuple[Any, bytes]
"""What can be written as JSON, and bytes."""


def begin(data: bytes) -> Talk:
    """Load the model; what is wrong with the order is the answer to all questions."""
    try:
        answer = answers_of(ordered_engine(**json.loads(data)))
    except UserError as error:
        answer = always(error)

    def talk(source: IO[bytes], target: IO[bytes]) -> None:
        question = json.loads(receive(source))
        try:
            found, rest = answer(**question)
            send(target, json.dumps({"found": found}).encode())
            send(target, rest)
        except FAILURES as error:
            send(target, json.dumps({"error": str(error)}).encode())
            send(target, b"")

    return talk


def ordered_engine(run: str, checkpoint: str, config: str, ensemble: list[str]) -> TorchEngine:
    """The engine that an order asks for, on one thread."""
    settings = Config.model_validate_json(config)
    alone = settings.model_copy(update={"machine": settings.machine.model_copy(update={"threads": 1})})
    opened = Run.open(run)
    return open_torch(opened, opened.checkpoints.find(checkpoint), alone, [Run.open(other) for other in ensemble])[0]


def always(error: UserError) -> Callable[..., Answer]:
    """The answer of a process that has no engine."""

    def refuse(**_: Any) -> Answer:
        raise error

    return refuse


def answers_of(engine: TorchEngine) -> Callable[..., Answer]:
    """How an engine answers a question: the name of a method, and what it is given."""

    def answer(method: str, parts: list[dict[str, Any]] | None = None, **given: Any) -> Answer:
        asked = [Part(**part) for part in parts or []]
        match method:
            case "cannot":
                return {wish: engine.cannot(wish) for wish in get_args(Wish)}, b""
            case "decode" | "score":
                found = engine.decode(asked) if method == "decode" else engine.score(asked)
                return [[vars(output) for output in outputs] for outputs in found], b""
            case "cross_attention":
                weights = engine.cross_attention(asked, **given).float().cpu().contiguous()
                return weights.shape, weights.numpy().tobytes()
            case "alternatives":
                return [asdict(each) for each in engine.alternatives(asked[0], **given)], b""
            case _:
                raise ValueError(f"no method {method}")

    return answer


if __name__ == "__main__":
    serve(begin)
