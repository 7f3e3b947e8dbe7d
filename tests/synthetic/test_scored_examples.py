"""The example files of ranking, labels, ratings and relevance are what their generator makes."""

from pathlib import Path

from tests.synthetic.scored_examples import example_files, write_examples

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_shipped_examples_are_the_generated_ones():
    assert {name: (EXAMPLES / name).read_text(encoding="utf-8") for name in example_files()} == example_files()


def test_all_files_are_written_where_they_belong(tmp_path):
    write_examples(tmp_path)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == set(example_files())
