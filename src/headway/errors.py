"""The one exception whose text is written for users, and the search for the name they meant."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """Wrong input. Its text says what is wrong, where, what was expected and what to do.

    The command line prints the text, without a traceback, and exits with code 2.
    """


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip of, if one is near."""
    near = get_close_matches(name, list(known), n=1)
    return near[0] if near else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean X?' for the known name nearest to `name`, or all the known names if none is near."""
    names = list(known)
    near = nearest(name, names)
    return f"; did you mean {near}?" if near else f"; known are {', '.join(names)}"
