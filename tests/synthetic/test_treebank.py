"""The made-up treebank, and that the shipped examples are what the generators make."""

from pathlib import Path

import pytest
from tests.synthetic import sentence_examples, structure_examples

from basanite.formats.texts.trees import Names, read_trees
from basanite.metrics.text.parsing import values
from basanite.synthetic.treebank import Parser, sentences

EXAMPLES = Path(__file__).parents[2] / "examples"
PERFECT = Parser(0, 0, 0, 0, 0)


def scored(parser):
    names = Names()
    return values(*(read_trees(side, names) for side in sentences(2, 100, parser=parser)))


def test_every_sentence_is_a_tree_and_a_parser_keeps_its_words():
    assert scored(PERFECT)["exact"] == 1.0
    assert scored(PERFECT)["tagging"] == 1.0
    worse = scored(Parser(0.5, 0.2, 0.2, 0.2, 0.2))
    assert worse["labelled_f1"] < scored(Parser())["labelled_f1"] < 1
    assert worse["crossing"] > 0


def test_the_same_seed_gives_the_same_trees():
    assert sentences(7, 20) == sentences(7, 20) != sentences(8, 20)


@pytest.mark.parametrize("task", ["parsing", "lm", "classification", "dependencies", "tagging", "coreference"])
def test_the_shipped_examples_are_what_the_generator_makes(task, tmp_path):
    sentence_examples.write_examples(tmp_path)
    structure_examples.write_examples(tmp_path)
    made = {path.name: path.read_bytes() for path in (tmp_path / task).iterdir()}
    shipped = {path.name: path.read_bytes() for path in (EXAMPLES / task).iterdir()}
    assert made == {name: shipped[name] for name in made}
