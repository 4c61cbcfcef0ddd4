"""How a command ends: its exit code, and the one line that is said when it fails."""

import os
import select
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, NoReturn, TextIO

from typer.core import TyperGroup

from headway.errors import UserError

DEBUG = "HEADWAY_DEBUG"
"""Set by `--debug`, so that the processes that a command starts know it too."""

FAILURE, WRONG_INPUT, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141


class Commands(TyperGroup):
    """All commands. How they are interrupted is seen here first, because typer would give it codes of its own."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the options before the command; `--help` and `--version` write here already."""
        with _interruptions():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _interruptions():
            return super().invoke(ctx)


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """Inside, who is interrupted or no longer read has said all; threads that are still at work are not waited for."""
    try:
        yield
    except SystemExit as end:
        if end.code in (INTERRUPTED, CLOSED_PIPE):
            os._exit(end.code)
        raise


@contextmanager
def one_line_failures() -> Iterator[None]:
    """Inside, a failure is said in one line, with the exit code that it has; with `--debug`, with its traceback."""
    try:
        with _interruptions():
            try:
                yield
            finally:
                sys.stdout.flush()
    except UserError as error:
        _fail(str(error), WRONG_INPUT)
    except OSError as error:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        _fail(f"{where}{error.strerror or error}; run again with --debug to see where", FAILURE)
    except Exception as error:
        what = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
        _fail(f"internal error: {what}; run again with --debug to see where", FAILURE)


@contextmanager
def _interruptions() -> Iterator[None]:
    """Inside, Ctrl-C ends with a word, and a reader who has seen enough (`| head`) ends everything quietly."""
    try:
        yield
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except BrokenPipeError as error:
        if all(map(_has_reader, (sys.stdout, sys.stderr))):
            raise RuntimeError("a process that was started ended too early") from error
        _drop_what_cannot_be_written()
        sys.exit(CLOSED_PIPE)
    except Exception as error:
        if _has_come_of_interrupting(error):
            _fail("interrupted", INTERRUPTED)
        raise


def _has_come_of_interrupting(error: BaseException) -> bool:
    """Whether Ctrl-C is behind a failure: wherever it comes, others may clean up what they had only half begun.

    So the locks of `threading`, interrupted while they wait, release what they have not got yet.
    """
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, KeyboardInterrupt):
            return True
    return False


def _has_reader(stream: TextIO) -> bool:
    """Whether somebody still reads what is written to a stream; where one cannot ask, nobody does."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(stream, select.POLLOUT)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _drop_what_cannot_be_written() -> None:
    """Forget output that nobody takes, or Python would complain when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def only_first_rank_speaks() -> Iterator[None]:
    """Inside, what the other processes of torchrun would say goes nowhere; their failures are told outside."""
    if os.environ.get("RANK", "0") == "0":
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _is_to_be_told() -> bool:
    """Whether a failure is not just the echo of one that another process of torchrun has told already."""
    if "WORLD_SIZE" not in os.environ:
        return True
    from headway.train.ranks import is_first_to_fail

    return is_first_to_fail()


def _fail(message: str, code: int) -> NoReturn:
    """End with a message, and with its exit code even if nobody takes the message."""
    with suppress(OSError):
        if os.environ.get(DEBUG):
            traceback.print_exc()
        if _is_to_be_told():
            print(f"headway: {message}", file=sys.stderr)
    _drop_what_cannot_be_written()
    sys.exit(code)
