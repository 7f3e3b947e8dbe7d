"""The JSON Schemas of configuration files say what their readers say: examples pass, mistakes are marked."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from basanite.cli.options import MODELS
from basanite.formats.config_schema import config_schema

ROOT = Path(__file__).parents[2]
EXAMPLES = {
    "admin campaign": "examples/campaign/*.toml",
    "harness": "examples/harness/**/*.toml",
    "reading": "examples/reading/*/package.toml",
    "judge": "examples/judging/schemes/*.toml",
}


def schema_of(group):
    module, name, title, file_format = MODELS[group]
    return config_schema(getattr(import_module(module), name), title, file_format)


def example_files(group):
    texts = (path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(EXAMPLES[group])))
    return [text for text in texts if MODELS[group][3] in text]


@pytest.mark.parametrize("group", MODELS)
def test_the_examples_are_valid_under_the_schema(group):
    jsonschema.Draft202012Validator.check_schema(schema_of(group))
    validator = jsonschema.Draft202012Validator(schema_of(group))
    documents = [tomllib.loads(text) for text in example_files(group)]
    assert documents
    assert [error.message for document in documents for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("group", MODELS)
def test_every_entry_has_words_that_an_editor_can_show(group):
    schema = schema_of(group)
    shapes = {"": schema, **schema["$defs"]}
    bare = [
        f"{name}.{key}"
        for name, shape in shapes.items()
        for key, entry in shape["properties"].items()
        if "description" not in entry and key != "format"
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("group", "old", "new"),
    [
        ("admin campaign", 'title = "', 'titel = "'),
        ("admin campaign", 'feedback = "', 'feedback = "none or '),
        ("harness", 'metric = "', 'metric = "x'),
        ("harness", 'format = "basanite-plan/1"', 'format = "basanite-plan/2"'),
        ("judge", 'widget = "', 'widget = "other-'),
        ("judge", "share = ", "share = 7"),
        ("reading", "sealed = true", 'sealed = "yes"'),
    ],
)
def test_mistakes_are_marked_in_an_editor(group, old, new):
    text = next(text for text in example_files(group) if old in text)
    document = tomllib.loads(text.replace(old, new, 1))
    assert list(jsonschema.Draft202012Validator(schema_of(group)).iter_errors(document))
