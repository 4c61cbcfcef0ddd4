"""Training of Headway against other toolkits on a CPU: real target tokens a second, between updates.

Every system trains the same model on the same tokens with the same budget of tokens a batch, by its own command in an
environment of its own; batches are its own too. A run has twice `--updates` updates: the first half warms up, the rate
is that of the second half, as the system itself logs it. Runs take turns (ours, a peer, ours, the next peer ...), and a
peer is compared with the run of ours just before it.
"""

import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from measure import machine, options, ratio, report
from peers.environments import Environment, PeerError, install, run_logged
from peers.eole import EOLE
from peers.huggingface import HUGGINGFACE
from peers.joeynmt import JOEYNMT
from peers.marian import MARIAN
from peers.ours import HEADWAY, HERE
from peers.system import LOG, Plan, System
from peers.work import DROPOUT, VOCABULARY, Work, add_work_options, work_from

PEERS = {"joeynmt": JOEYNMT, "eole": EOLE, "marian": MARIAN, "huggingface": HUGGINGFACE}


@dataclass
class Measured:
    """What is known about a peer so far."""

    peer: System
    environment: Environment | None = None
    failure: str = ""
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def row(self) -> str:
        """Its row of the table."""
        if self.failure or self.environment is None:
            return f"| {self.peer.name} | - | {self.failure} | - | - |"
        version = self.environment.version(self.peer.packages[0])
        median, least, most = ratio([1 / rate for rate in self.theirs], [1 / rate for rate in self.ours])
        return (
            f"| {self.peer.name} | {version} | {statistics.median(self.theirs):,.0f} "
            f"| {statistics.median(self.ours):,.0f} | {median:.2f} ({least:.2f} to {most:.2f}) |"
        )


def steady_rate(system: System, environment: Environment, work: Work, updates: int) -> float:
    """Target tokens a second in the second half of a run."""
    plan = Plan(steps=2 * updates, log_every=updates)
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory)
        run_logged(system.command(environment, work, plan, out), out / LOG, threads=system.threads(work))
        rates = system.rates(out)
    if len(rates) != 2:
        raise PeerError(f"its log has {len(rates)} rates where 2 were expected")
    return rates[1]


def install_peer(peer: System, path: Path) -> Measured:
    """A peer that is installed, or why it is not."""
    print(f"installing {peer.name} in {path}, if it is not there", file=sys.stderr)
    try:
        return Measured(peer, install(path, peer.packages, with_torch=peer.has_torch))
    except PeerError as failure:
        return Measured(peer, failure=f"cannot be installed: {failure}")


def compare(measured: Measured, work: Work, updates: int) -> None:
    """One run of ours and one of the peer; a peer that fails is not asked again."""
    if measured.environment is None or measured.failure:
        return
    ours = steady_rate(HEADWAY, HERE, work, updates)
    try:
        theirs = steady_rate(measured.peer, measured.environment, work, updates)
    except PeerError as failure:
        measured.failure = f"cannot be run: {failure}"
        return
    measured.ours.append(ours)
    measured.theirs.append(theirs)
    print(f"{measured.peer.name} {theirs:,.0f}, Headway {ours:,.0f} target tokens/s", file=sys.stderr)


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    add_work_options(parser)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=20, help="updates to warm up, and as many to measure")
    arguments = parser.parse_args()
    print(machine())
    peers = [install_peer(PEERS[name], arguments.environments / name) for name in arguments.peers]
    with tempfile.TemporaryDirectory() as directory:
        work = work_from(arguments, Path(directory))
        for _ in range(arguments.rounds):
            for measured in peers:
                compare(measured, work, arguments.updates)
    preloaded = os.environ.get("LD_PRELOAD") or "the system's"
    lines = [
        f"Training of {arguments.preset} (dropout {DROPOUT}, Adam, fp32) on {work.name}, V = {VOCABULARY:,}, at most "
        f"about {work.batch_tokens:,} tokens a batch, {work.threads} threads, {arguments.updates} updates a run after "
        f"as many to warm up, {arguments.rounds} rounds in turns; allocator: {preloaded.rpartition('/')[2]}.",
        "",
        "| peer | version | target tokens/s | headway, target tokens/s | times as fast: median (least to most) |",
        "| --- | --- | --- | --- | --- |",
        *(measured.row() for measured in peers),
    ]
    report(f"peer_training, {arguments.preset}", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
