"""The examples of translation and speech: the same bytes every time, and those that are in the repository."""

from pathlib import Path

from tests.synthetic.language_examples import write_examples

EXAMPLES = Path(__file__).parents[2] / "examples"


def contents(folder):
    paths = (path for task in ("translation", "speech") for path in (folder / task).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.name != "README.md"}


def test_the_examples_in_the_repository_are_those_that_the_generator_makes(tmp_path):
    write_examples(tmp_path)
    assert contents(tmp_path) == contents(EXAMPLES)
