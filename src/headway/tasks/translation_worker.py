"""A process that translates: an order comes in on standard input, then lines; on standard output go translations."""

import json
from dataclasses import asdict
from itertools import count
from typing import IO, Any

from headway.errors import UserError
from headway.processes import Talk, receive, send, serve
from headway.search.translations import Line
from headway.search.translator import Translator
from headway.tasks.translating import Order


def begin(data: bytes) -> Talk:
    """Take the order; what is wrong with it is the answer to all lines."""
    order = Order(**json.loads(data))
    try:
        translator, problem = order.load(), ""
    except UserError as error:
        problem = str(error)

    def translate(source: IO[bytes], target: IO[bytes]) -> None:
        asked = json.loads(receive(source))
        answer = {"error": problem} if problem else answer_lines(translator, order, asked)
        send(target, json.dumps(answer).encode())

    return translate


def answer_lines(translator: Translator, order: Order, asked: dict[str, Any]) -> dict[str, Any]:
    """The translations of lines, and what is the matter with some."""
    warnings: list[tuple[int, str]] = []
    lines = [Line(**each) for each in asked["lines"]]
    try:
        found = translator.translate(
            lines,
            alignments=order.alignments,
            on_warning=lambda number, text: warnings.append((number, text)),
            numbers=count(asked["first"], asked["step"]),
        )
        return {"translations": [asdict(each) for each in found], "warnings": warnings}
    except UserError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    serve(begin)
