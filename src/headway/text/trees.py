"""Bracketed trees, one a line, as in the Penn treebank -> `Tree`s; and trees <-> the symbols that a parser predicts.

Constituency parsing as translation (paper, section 6.3) has a sentence as its source and the symbols of its tree as
its target: `(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))))` is `S NP DT NN /NP VP VBZ /VP /S`. The words need not
be predicted: there is one tag for each.

Trees may be deeper than Python's recursion limit, so that nothing here recurs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import UserError
from headway.text.files import empty_file, place, read_records

OUTER_LABELS = frozenset({"", "TOP", "ROOT", "S1"})
"""What treebanks call the bracket around the whole tree, which says nothing about the sentence."""
TOKEN = re.compile(r"[()]|[^() \t\r\n]+")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A labelled bracket around trees and words; its `str` is the bracketed text."""

    label: str
    children: tuple["Tree | str", ...]

    def words(self) -> list[str]:
        """The sentence."""
        return [node for node in self._walk() if isinstance(node, str)]

    def tags(self) -> list[str]:
        """For each word the label of the bracket that it stands in: its part of speech."""
        tags, labels = [], []
        for node in self._walk():
            match node:
                case Tree():
                    labels.append(node.label)
                case str():
                    tags.append(labels[-1])
                case None:
                    labels.pop()
        return tags

    def __str__(self) -> str:
        pieces = []
        for node in self._walk():
            match node:
                case Tree():
                    pieces.append(f" ({node.label}")
                case str():
                    pieces.append(f" {node}")
                case None:
                    pieces.append(")")
        return "".join(pieces)[1:]

    def __repr__(self) -> str:
        return f"parse_tree({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _walk(self) -> Iterator["Tree | str | None"]:
        """Each tree before its children, each word, and None where a tree ends."""
        waiting: list[Tree | str | None] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if isinstance(node, Tree):
                waiting.append(None)
                waiting.extend(reversed(node.children))

    def _key(self) -> tuple[tuple[str] | str | None, ...]:
        return tuple((node.label,) if isinstance(node, Tree) else node for node in self._walk())


def read_trees(path: str | Path) -> Iterator[Tree]:
    """The trees of a file with one on each line."""
    number = 0
    for number, line in read_records(path):
        try:
            yield parse_tree(line)
        except UserError as error:
            raise UserError(f"{place(path, number)}, {error}") from None
    if number == 0:
        raise empty_file(path)


@dataclass(slots=True)
class _Bracket:
    column: int
    label: str | None = None
    children: list[Tree | str] = field(default_factory=list)


def parse_tree(text: str) -> Tree:
    """The tree in a bracketed text. Only the outermost bracket may lack a label, as in `( (S ...))`."""
    open_brackets: list[_Bracket] = []
    root: Tree | None = None
    for match in TOKEN.finditer(text):
        token, column = match[0], match.start() + 1
        if root is not None:
            raise _problem(column, f"{token} stands behind the end of the tree; expected one tree a line")
        if token == "(":
            _label_outermost(open_brackets, column)
            open_brackets.append(_Bracket(column))
        elif not open_brackets:
            raise _problem(column, f"found {token}; expected an opening bracket")
        elif token == ")":
            tree = _close(open_brackets.pop())
            if open_brackets:
                open_brackets[-1].children.append(tree)
            else:
                root = tree
        elif open_brackets[-1].label is None:
            open_brackets[-1].label = token
        else:
            open_brackets[-1].children.append(token)
    if open_brackets:
        raise _problem(open_brackets[-1].column, "this bracket is never closed")
    if root is None:
        raise _problem(1, "no tree; expected an opening bracket")
    return root


def _label_outermost(open_brackets: list[_Bracket], column: int) -> None:
    """Give the empty label to a bracket that another one follows at once, if it is the outermost."""
    if open_brackets and open_brackets[-1].label is None:
        if len(open_brackets) > 1:
            raise _problem(column, "a bracket in place of a label; only the outermost bracket may lack one")
        open_brackets[-1].label = ""


def _close(bracket: _Bracket) -> Tree:
    if bracket.label is None or not bracket.children:
        raise _problem(bracket.column, "this bracket is empty; expected a label, and words or brackets")
    return Tree(bracket.label, tuple(bracket.children))


def _problem(column: int, problem: str) -> UserError:
    return UserError(f"column {column:,}: {problem}")


def linearise(tree: Tree) -> list[str]:
    """The tree as symbols: `NP` opens, `/NP` closes, a tag stands for its word. An outer TOP or ROOT is left out."""
    is_wrapped = tree.label in OUTER_LABELS and not any(isinstance(child, str) for child in tree.children)
    symbols: list[str] = []
    waiting: list[Tree | str] = list(reversed(tree.children)) if is_wrapped else [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            symbols.append(node)
            continue
        if not node.label or node.label.startswith("/"):
            raise UserError(f"the label {node.label!r} cannot be a symbol; expected one that does not begin with /")
        symbols.append(node.label)
        branches = [child for child in node.children if isinstance(child, Tree)]
        if len(branches) == len(node.children):
            waiting += [f"/{node.label}", *reversed(branches)]
        elif len(node.children) > 1:
            raise UserError(
                f"a word without a tag of its own in {node}; expected one word in a bracket, as in (NN cat)"
            )
    return symbols


def tree_from_symbols(symbols: Sequence[str], words: Sequence[str], root: str = "TOP") -> Tree:
    """The inverse of `linearise`: the tree over `words`, inside a bracket labelled `root`.

    A symbol that is closed is a bracket, all others are tags; a closing symbol belongs to the nearest symbol that can
    be its bracket. So it is the inverse wherever tags and brackets have different labels, as in every treebank.
    """
    opening = _opening_positions(symbols)
    closing = sum(symbol.startswith("/") for symbol in symbols)
    tags = len(symbols) - closing - len(opening)
    if tags != len(words) or not tags:
        raise UserError(f"tags among the symbols: {tags:,}, words: {len(words):,}; expected one tag for each word")
    remaining = iter(words)
    children: list[list[Tree | str]] = [[]]
    for position, symbol in enumerate(symbols):
        if position in opening:
            children.append([])
        elif symbol.startswith("/"):
            branches = children.pop()
            children[-1].append(Tree(symbol[1:], tuple(branches)))
        else:
            children[-1].append(Tree(symbol, (next(remaining),)))
    return Tree(root, tuple(children[0]))


def _opening_positions(symbols: Sequence[str]) -> set[int]:
    """Where the symbols stand that a later symbol closes."""
    opening = set()
    items: list[int | None] = []  # positions of symbols that may yet be closed; None for a bracket that has been
    for position, symbol in enumerate(symbols):
        if not symbol.startswith("/"):
            items.append(position)
            continue
        for item in range(len(items) - 2, -1, -1):  # from the last but one: a bracket is not empty
            start = items[item]
            if start is not None and symbols[start] == symbol[1:]:
                opening.add(start)
                items[item:] = [None]
                break
        else:
            raise UserError(f"symbol {position + 1:,} is {symbol}, but no {symbol[1:]} with something in it is open")
    return opening
