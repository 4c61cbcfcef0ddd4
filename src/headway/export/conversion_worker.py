"""A process that makes a run's own conversion: what to convert comes in on standard input, what was found goes out.

It has torch and CTranslate2 at once; the process that started it needs only one of them.
"""

import json
import sys
from contextlib import suppress
from typing import Any

from headway.errors import UserError
from headway.export.conversions import keep_conversion
from headway.store.run import Run


def main() -> None:
    """Make one conversion; Ctrl-C is told by the process that started this one."""
    with suppress(KeyboardInterrupt):
        answer = make(**json.loads(sys.stdin.buffer.read()))
        sys.stdout.buffer.write(json.dumps(answer).encode())


def make(run: str, quantization: str, checkpoint: str) -> dict[str, Any]:
    """What was found when the conversion was compared, or why there is none."""
    try:
        opened = Run.open(run)
        agreement = keep_conversion(opened, quantization, opened.checkpoints.find(checkpoint))
    except UserError as error:
        return {"error": str(error)}
    return {"agreement": agreement.as_json()}


if __name__ == "__main__":
    main()
