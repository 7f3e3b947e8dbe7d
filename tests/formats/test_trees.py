"""Trees are read as a plain recursive reader reads them, whatever stands in the file, and in time that grows evenly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.formats.texts import trees as trees_module
from basanite.formats.texts.trees import Names, fault_of, read_trees, tree_texts

NAMES = st.text(st.characters(exclude_characters="() \t\n\r\v\f", codec="utf-8"), min_size=1, max_size=12)
SPACES = st.sampled_from([" ", "  ", "\t", " \t "])
LEAVES = st.tuples(NAMES, NAMES)
NODES = st.recursive(LEAVES, lambda inner: st.tuples(NAMES | st.just(""), st.lists(inner, min_size=1, max_size=4)))


def text_of(node, space=" "):
    label, content = node
    inside = content if isinstance(content, str) else space.join(text_of(child, space) for child in content)
    return f"({label}{space}{inside})"


def walked(node, start=0):
    """Words, tags and brackets of a tree by recursion."""
    label, content = node
    if isinstance(content, str):
        return [content], [label], []
    words, tags, brackets = [], [], []
    for child in content:
        more = walked(child, start + len(words))
        words, tags, brackets = words + more[0], tags + more[1], brackets + more[2]
    return words, tags, [(label, start, start + len(words)), *brackets]


def parts(trees, number):
    """The same of a tree that was read."""
    name = lambda code: trees.names.name(int(code)).decode()  # noqa: E731
    words = slice(*trees.first_word[number : number + 2])
    brackets = slice(*trees.first_bracket[number : number + 2])
    columns = (trees.labels[brackets], trees.starts[brackets].tolist(), trees.ends[brackets].tolist())
    found = [(name(label), start, end) for label, start, end in zip(*columns, strict=True)]
    return list(map(name, trees.words[words])), list(map(name, trees.tags[words])), found


@given(st.lists(NODES, max_size=5), SPACES)
def test_trees_are_read_as_recursion_reads_them(nodes, space):
    trees = read_trees([text_of(node, space) for node in nodes])
    assert not trees.broken
    assert [parts(trees, number) for number in range(len(trees))] == [walked(node) for node in nodes]


@given(st.lists(st.text("()ab \t\n", max_size=30), max_size=6))
def test_of_any_texts_each_is_a_tree_or_broken_and_none_spoils_another(texts):
    together = read_trees(texts)
    alone = [read_trees([text]) for text in texts]
    assert set(together.broken) == {number for number, one in enumerate(alone) if one.broken}
    for number, one in enumerate(alone):
        assert parts(together, number) == parts(one, 0)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("(S (A a)", "1 bracket is never closed"),
        ("(S (A a)))", "a bracket is closed that was never opened"),
        (")(", "a bracket is closed that was never opened"),
        ("(S (A a) b)", "the word 'b' has no bracket of its own with a tag"),
        ("(A a b)", "the word 'a' has no bracket of its own with a tag"),
        ("word", "the word 'word' has no bracket of its own with a tag"),
        ("(S (A a) (B))", "a bracket holds no word"),
        ("()", "a bracket holds no word"),
    ],
)
def test_what_is_wrong_with_a_text_is_said(text, fault):
    trees = read_trees(["(S (A a))", text, "(S (B b))"])
    assert trees.broken[1].fault == fault
    assert trees.broken[1].fix
    assert parts(trees, 1) == ([], [], [])
    assert parts(trees, 2) == (["b"], ["B"], [("S", 0, 1)])


@given(st.lists(NODES | st.just(("(", "a")), max_size=8), st.integers(1, 60))
def test_it_does_not_matter_how_many_texts_are_read_at_once(nodes, size):
    texts = [text_of(node) for node in nodes]
    whole = read_trees(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees_module, "BLOCK", size)
        blocks = read_trees(texts)
    assert set(blocks.broken) == set(whole.broken)
    assert [parts(blocks, at) for at in range(len(texts))] == [parts(whole, at) for at in range(len(texts))]
    assert len(blocks) == len(whole) == len(texts)


def test_an_empty_text_is_a_tree_without_words():
    trees = read_trees(["", "  "])
    assert not trees.broken
    assert trees.first_word.tolist() == [0, 0, 0]
    assert len(read_trees([])) == 0


def test_words_without_a_tree_around_them_are_words_without_brackets():
    assert parts(read_trees(["(P this) (Q is)"]), 0) == (["this", "is"], ["P", "Q"], [])


def test_a_very_deep_tree_is_read_without_recursion():
    deep = 200_000
    trees = read_trees(["(A " * deep + "(B b)" + ")" * deep])
    assert len(trees.labels) == deep
    assert set(trees.ends.tolist()) == {1}


def test_a_megabyte_of_spaces_or_brackets_takes_no_time_to_speak_of():
    assert fault_of("(" + " " * 2**20).fault == "1 bracket is never closed"
    assert read_trees(["(" * 2**20]).broken[0].fault == f"{2**20} brackets are never closed"
    assert not read_trees(["(A " + " " * 2**20 + "a)"]).broken


@given(st.lists(NAMES | st.text("é世()\0", max_size=9), max_size=20))
def test_every_name_has_a_number_of_its_own_and_comes_back(names):
    encoded = [name.encode() for name in names]
    known = Names()
    codes = [known.code(name) for name in encoded]
    assert [known.name(code) for code in codes] == encoded
    assert len(set(codes)) == len(set(encoded))
    data = b" ".join(encoded)
    ends = np.cumsum([len(name) + 1 for name in encoded]) - 1 if names else np.array([], dtype=np.int64)
    starts = ends - np.array([len(name) for name in encoded], dtype=np.int64)
    assert known.codes(data, starts, ends).tolist() == codes


def test_a_no_break_space_is_part_of_a_word():
    assert parts(read_trees(["(A a\u00a0b)"]), 0)[0] == ["a\u00a0b"]


@given(st.lists(NODES.filter(lambda node: not isinstance(node[1], str)), max_size=5))
def test_trees_that_run_over_lines_are_told_apart_with_the_lines_they_begin_on(nodes):
    texts = [text_of(node, "\n  ") for node in nodes]
    whole = "\n\n".join(texts)
    found = list(tree_texts(whole))
    assert [text for _, text in found] == texts
    lines = whole.split("\n")
    assert all(lines[line - 1].startswith(text.split("\n")[0]) for line, text in found)


def test_what_is_left_over_of_trees_that_run_over_lines_is_a_broken_one():
    found = list(tree_texts("(S (A a))\n)\n(S\n"))
    assert found == [(1, "(S (A a))"), (2, ")"), (3, "(S")]
    assert set(read_trees([text for _, text in found]).broken) == {1, 2}
