"""A process that translates: an order comes in on standard input, then lines; translations go out on standard output.

It ends when its input does, so that it never outlives the process that started it, however that one ends.
"""

import json
import signal
import sys
from dataclasses import asdict
from typing import Any

from headway.data.encoding_worker import receive, send
from headway.errors import UserError
from headway.search.translations import Line
from headway.search.translator import Translator
from headway.tasks.translating import Order


def main() -> None:
    """Take the order, then lines again and again; what is wrong with the order is the answer to all of them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    source, target = sys.stdin.buffer, sys.stdout.buffer
    order = Order(**json.loads(receive(source)))
    try:
        translator, problem = order.load(), ""
    except UserError as error:
        problem = str(error)
    while True:
        try:
            asked = json.loads(receive(source))
        except EOFError:
            return
        answer = {"error": problem} if problem else answer_lines(translator, order, asked)
        send(target, json.dumps(answer).encode())
        target.flush()


def answer_lines(translator: Translator, order: Order, asked: dict[str, Any]) -> dict[str, Any]:
    """The translations of lines, and what is the matter with some."""
    warnings: list[tuple[int, str]] = []
    lines = [Line(**each) for each in asked["lines"]]
    try:
        found = translator.translate_stream(
            lines,
            alignments=order.alignments,
            on_warning=lambda number, text: warnings.append((number, text)),
            first=asked["first"],
        )
        return {"translations": [asdict(each) for each in found], "warnings": warnings}
    except UserError as error:
        return {"error": str(error)}


if __name__ == "__main__":
    main()
