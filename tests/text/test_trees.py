import random
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_files import COMPRESS, endless_pipe, write

from headway.errors import UserError
from headway.text.trees import Tree, linearise, parse_tree, read_trees, tree_from_symbols

CAT = "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))"

WORDS = st.text(st.characters(exclude_characters="() \t\r\n", exclude_categories=["Cs"]), min_size=1)
TAGS = st.builds(lambda tag, word: Tree(tag, (word,)), st.sampled_from(["DT", "NN", "-LRB-", ",", "X/Y"]), WORDS)


def phrases(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    labels = st.sampled_from(["S", "NP", "VP", "NP-SBJ", "NP/S", "TOP"])
    return st.builds(Tree, labels, st.lists(children, min_size=1).map(tuple))


TREES = st.recursive(TAGS, phrases)
ANY_TREES = st.recursive(
    WORDS, lambda children: st.builds(Tree, WORDS, st.lists(children, min_size=1).map(tuple))
).filter(lambda tree: isinstance(tree, Tree))


def error_of(text: str) -> str:
    with pytest.raises(UserError) as raised:
        parse_tree(text)
    return str(raised.value)


def test_a_tree() -> None:
    tree = parse_tree(CAT)
    assert tree.label == "TOP"
    subject = Tree("NP", (Tree("DT", ("The",)), Tree("NN", ("cat",))))
    assert tree.children == (Tree("S", (subject, Tree("VP", (Tree("VBZ", ("sleeps",)),)), Tree(".", (".",)))),)
    assert tree.words() == ["The", "cat", "sleeps", "."]
    assert tree.tags() == ["DT", "NN", "VBZ", "."]
    assert linearise(tree) == ["S", "NP", "DT", "NN", "/NP", "VP", "VBZ", "/VP", ".", "/S"]
    assert (str(tree), repr(tree)) == (CAT, f"parse_tree({CAT!r})")


def test_trees_are_equal_by_what_they_hold() -> None:
    assert parse_tree(CAT) == parse_tree(f"  {CAT.replace(' ', '   ')}\r")
    assert len({parse_tree(CAT), parse_tree(CAT)}) == 1
    assert parse_tree("(A (B b) c)") != parse_tree("(A (B b c))")
    assert parse_tree("(A b)") != "(A b)"


@given(tree=ANY_TREES)
def test_a_tree_and_its_text_are_one(tree: Tree) -> None:
    assert parse_tree(str(tree)) == tree
    wrapped = Tree("", (tree,))
    assert str(wrapped).startswith("( (")
    assert parse_tree(str(wrapped)) == wrapped
    assert len(tree.tags()) == len(tree.words())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: no tree; expected an opening bracket"),
        ("NP", "column 1: found NP; expected an opening bracket"),
        (" ) ", "column 2: found ); expected an opening bracket"),
        ("(S (NN cat)", "column 1: this bracket is never closed"),
        ("(S (NN cat) (VP", "column 13: this bracket is never closed"),
        ("(NN cat))", "column 9: ) stands behind the end of the tree; expected one tree a line"),
        ("(NN cat) (NN dog)", "column 10: ( stands behind the end of the tree; expected one tree a line"),
        ("(S ((NN cat)))", "column 5: a bracket in place of a label; only the outermost bracket may lack one"),
        ("( ( (NN cat)))", "column 5: a bracket in place of a label; only the outermost bracket may lack one"),
        ("(S (NP) (NN cat))", "column 4: this bracket is empty; expected a label, and words or brackets"),
        ("()", "column 1: this bracket is empty; expected a label, and words or brackets"),
    ],
)
def test_text_that_is_no_tree(text: str, message: str) -> None:
    assert error_of(text) == message


@pytest.mark.parametrize("suffix", COMPRESS)
def test_files_of_trees(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"dev.trees{suffix}", f"{CAT}\n( (NN cat))\n\n".encode())
    assert list(map(str, read_trees(path))) == [CAT, "( (NN cat))"]
    path = write(path, f"{CAT}\n(S (NN cat)\n".encode())
    with pytest.raises(UserError) as raised:
        list(read_trees(path))
    assert str(raised.value) == f"{path}, line 2, column 1: this bracket is never closed"
    with pytest.raises(UserError, match="is empty; expected at least one line"):
        list(read_trees(write(path, b"")))
    with pytest.raises(UserError, match=r"line 1 is blank; remove it"):
        list(read_trees(write(path, f"\n{CAT}\n".encode())))


def test_trees_come_while_the_file_is_still_being_written(tmp_path: Path) -> None:
    with endless_pipe(tmp_path / "endless", f"{CAT}\n".encode()):
        assert list(islice(read_trees(tmp_path / "endless"), 10)) == [parse_tree(CAT)] * 10


@given(children=st.lists(TREES, min_size=1), root=st.sampled_from(["TOP", "ROOT", "S1", ""]))
def test_symbols_and_words_are_the_tree(children: list[Tree], root: str) -> None:
    tree = Tree(root, tuple(children))
    symbols = linearise(tree)
    assert tree_from_symbols(symbols, tree.words(), root) == tree
    assert linearise(tree_from_symbols(symbols, tree.words())) == symbols


@given(symbols=st.lists(st.sampled_from(["S", "NP", "NN", "/S", "/NP", "/"])), count=st.integers(0, 5))
def test_symbols_give_a_tree_of_those_symbols_or_a_user_error(symbols: list[str], count: int) -> None:
    words = [f"word{number}" for number in range(count)]
    with suppress(UserError):
        tree = tree_from_symbols(symbols, words)
        assert linearise(tree) == symbols
        assert tree.words() == words


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ("S NP NN /VP /S", "symbol 4 is /VP, but no VP with something in it is open"),
        ("NP NN /NP /NP", "symbol 4 is /NP, but no NP with something in it is open"),
        ("S NN NP /NP /S", "symbol 4 is /NP, but no NP with something in it is open"),
        ("S NP NN /S", "tags among the symbols: 2, words: 1; expected one tag for each word"),
        ("S NP /S /NP", "symbol 4 is /NP, but no NP with something in it is open"),
        ("", "tags among the symbols: 0, words: 1; expected one tag for each word"),
    ],
)
def test_symbols_that_are_no_tree(symbols: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        tree_from_symbols(symbols.split(), ["cat"])
    assert str(raised.value) == message
    with pytest.raises(UserError, match="tags among the symbols: 0, words: 0; expected"):
        tree_from_symbols([], [])


def test_only_one_outer_bracket_is_left_out() -> None:
    assert linearise(parse_tree("(NN cat)")) == ["NN"]
    assert linearise(parse_tree("(TOP cat)")) == ["TOP"]
    assert linearise(parse_tree("( (TOP (NN cat)))")) == ["TOP", "NN", "/TOP"]
    assert linearise(parse_tree("(S (NN cat))")) == ["S", "NN", "/S"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(TOP (/NP (NN cat)))", "the label '/NP' cannot be a symbol; expected one that does not begin with /"),
        ("(TOP (NP the (NN cat)))", "a word without a tag of its own in (NP the (NN cat)); expected one word in a br"),
        (
            "(TOP (NP the cat))",
            "a word without a tag of its own in (NP the cat); expected one word in a bracket, as in",
        ),
    ],
)
def test_trees_that_have_no_symbols(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        linearise(parse_tree(text))
    assert str(raised.value).startswith(message)


def test_depth_has_no_limit() -> None:
    depth = 20 * sys.getrecursionlimit()
    text = "(S " * depth + "(NN cat)" + ")" * depth
    tree = parse_tree(text)
    assert str(tree) == text
    assert tree == parse_tree(text)
    assert hash(tree) == hash(parse_tree(text))
    assert (tree.words(), tree.tags()) == (["cat"], ["NN"])
    assert tree_from_symbols(linearise(tree), ["cat"]).children == (tree,)


@given(data=st.binary())
def test_random_bytes_give_trees_or_a_user_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    with suppress(UserError):
        assert all(tree.words() for tree in read_trees(write(tmp_path_factory.mktemp("fuzz") / "a", data)))


def test_damaged_trees_give_trees_or_a_user_error() -> None:
    chance = random.Random(1)
    for _ in range(1000):
        symbols = list(CAT)
        for _ in range(chance.randint(1, 4)):
            symbols[chance.randrange(len(symbols))] = chance.choice(["(", ")", " ", "x", "", "\n", "/"])
        with suppress(UserError):
            tree = parse_tree("".join(symbols))
            assert parse_tree(str(tree)) == tree
            linearise(tree)
