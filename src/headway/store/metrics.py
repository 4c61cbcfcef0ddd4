"""`metrics.jsonl`: what a run measured, a JSON object a line, in the order of its steps."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Metrics:
    """Appends to the file; a resumed run first forgets what came after the step it resumes from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rewind(self, step: int) -> None:
        """Forget the records of later steps, and a last line that was cut short."""
        kept = [record for record in read_metrics(self.path) if record["step"] <= step]
        partial = self.path.with_name(f"{self.path.name}.partial")
        partial.write_text("".join(f"{json.dumps(record)}\n" for record in kept), encoding="utf-8")
        os.replace(partial, self.path)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record, which has a step."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(record)}\n")


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole records of the file."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:  # only the last line of a killed run can be cut short
            continue
    return records
