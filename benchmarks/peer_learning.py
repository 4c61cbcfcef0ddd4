"""What systems learn in the same time: validation BLEU against minutes of training, Headway beside other toolkits.

All train the same model on the same tokens by the same recipe (see `peers/work.py`), one after the other, and translate
the validation sentences greedily every `--validate-every` updates. Time is that of training; validating is not counted.
BLEU is sacreBLEU's, on plain text. In `--out`: the log and the curve (JSON Lines) of each system, and a plot of all.
Stopped, the same command goes on with the systems that have no curve yet, also with another `--validate-every`.
"""

import json
import shutil
import subprocess
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from headway.evaluate.scores import score_texts
from headway.show.svg import Line, line_chart
from measure import machine, options, report
from peers.environments import Environment, PeerError, environment_of, install, last_words
from peers.huggingface import HUGGINGFACE
from peers.joeynmt import JOEYNMT
from peers.marian import MARIAN
from peers.ours import HEADWAY, HERE, validations_of
from peers.system import LOG, Plan, System, Validation
from peers.work import Work, add_work_options, work_from

SYSTEMS = {"headway": HEADWAY, "joeynmt": JOEYNMT, "marian": MARIAN, "huggingface": HUGGINGFACE}
NO_END = 1_000_000
"""Updates; it is the time that ends a run."""
SHARES = (0.25, 0.5, 1.0)
"""Of the time, at which the table looks."""
PLAN = "plan.json"
"""What the curves in a directory were made for."""
MADE_FOR = ("corpus", "valid", "preset", "threads", "batch_tokens", "minutes", "run")
"""Options without which curves cannot be compared."""
LOOK_EVERY = 2.0
"""Seconds between two looks at a log."""
PATIENCE = 120.0
"""Seconds that a system has to end by itself once it was told to."""

Curve = Sequence[Validation]


def learn(system: System, environment: Environment, work: Work, plan: Plan, seconds: float, out: Path) -> None:
    """Train up to the first validation after that many seconds of training."""
    assert system.validations is not None
    command = system.command(environment, work, plan, out)
    variables = environment_of(system.threads(work))
    with (out / LOG).open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=variables, cwd=out)
        try:
            while process.poll() is None:
                time.sleep(LOOK_EVERY)
                done = system.validations(out, lambda _: 0.0)
                if done and done[-1].seconds >= seconds:
                    time.sleep(LOOK_EVERY)  # the last file may still be being written
                    return
        finally:
            stop(process)
    raise PeerError(f"ended with status {process.returncode}: {last_words(out / LOG)}")


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a process, by force if it does not hear."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def bleu(work: Work, translations: Path) -> float:
    """Of a file of translations of the validation sentences."""
    references = [pair.target for pair in work.valid]
    return score_texts(work.texts(translations), [references], metrics=("bleu",), samples=0)["bleu"].value


def curve_of(name: str, arguments: Namespace, work: Work) -> Curve:
    """Install a system, train it, and judge what it could do at each validation."""
    system, out = SYSTEMS[name], arguments.out.absolute() / name
    assert system.validations is not None
    if system is HEADWAY and arguments.run:
        return validations_of(arguments.run)
    shutil.rmtree(out, ignore_errors=True)  # what was stopped begins anew
    out.mkdir()
    environment = HERE
    if system is not HEADWAY:
        environment = install(arguments.environments / name, system.packages, with_torch=system.has_torch)
    every = arguments.validate_every
    learn(system, environment, work, Plan(NO_END, log_every=every, validate_every=every), 60 * arguments.minutes, out)
    return system.validations(out, partial(bleu, work))


def claim(out: Path, arguments: Namespace) -> None:
    """Take a new directory, or go on in one that was taken for the same; nothing else is touched."""
    plan, kept = json.loads(json.dumps({name: getattr(arguments, name) for name in MADE_FOR}, default=str)), out / PLAN
    if not out.exists():
        out.mkdir(parents=True)
        kept.write_text(json.dumps(plan, indent=1), encoding="utf-8")
    elif not kept.exists() or json.loads(kept.read_text(encoding="utf-8")) != plan:
        raise PeerError(f"{out} is there already, and not for these options; choose another --out")


def plot(curves: Mapping[str, Curve]) -> str:
    lines = [Line(name, [v.seconds / 60 for v in curve], [v.bleu for v in curve]) for name, curve in curves.items()]
    return line_chart("Validation BLEU", lines, "minutes of training", "BLEU", from_zero=True)


def row(name: str, curve: Curve, seconds: float) -> str:
    """BLEU of the last validation before each share of the time, and how many updates there were in all of it."""
    cells = []
    for share in SHARES:
        before = [validation for validation in curve if validation.seconds <= share * seconds]
        cells.append(f"{before[-1].bleu:.1f}" if before else "-")
    updates = max((validation.step for validation in curve if validation.seconds <= seconds), default=0)
    return f"| {name} | {updates:,} | {' | '.join(cells)} |"


def write_curve(curve: Curve, path: Path) -> None:
    path.write_text("".join(f"{json.dumps(asdict(validation))}\n" for validation in curve), encoding="utf-8")


def read_curve(path: Path) -> Curve:
    return [Validation(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    add_work_options(parser, with_valid=True)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--run", type=Path, help="a run of Headway that is there already, instead of a new one")
    parser.add_argument("--minutes", type=float, default=10.0, help="of training, a system")
    parser.add_argument("--validate-every", type=int, default=100, metavar="UPDATES")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new directory, or one to go on in")
    arguments = parser.parse_args()
    try:
        claim(arguments.out, arguments)
    except PeerError as error:
        parser.error(str(error))
    print(machine())
    work = work_from(arguments, arguments.out.absolute() / "work")
    curves, rows = {}, []
    for name in arguments.systems:
        title, known = SYSTEMS[name].name, arguments.out / f"{name}.jsonl"
        try:
            curves[title] = read_curve(known) if known.exists() else curve_of(name, arguments, work)
        except PeerError as error:
            rows.append(f"| {title} | cannot be run: {error} |{' - |' * len(SHARES)}")
            continue
        write_curve(curves[title], known)
        rows.append(row(title, curves[title], 60 * arguments.minutes))
        print(rows[-1], flush=True)
    if curves:
        (arguments.out / "learning.svg").write_text(plot(curves), encoding="utf-8")
    lines = [
        f"Validation BLEU of {arguments.preset} on {work.name}, {len(list(work.valid)):,} sentences, greedy search, "
        f"batches of at most about {work.batch_tokens:,} tokens, {work.threads} threads, in {arguments.minutes:g} "
        "minutes of training each.",
        "",
        f"| system | updates |{''.join(f' BLEU after {share * arguments.minutes:g} min |' for share in SHARES)}",
        f"| --- | --- |{' --- |' * len(SHARES)}",
        *rows,
    ]
    report("peer_learning", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
