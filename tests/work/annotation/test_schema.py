"""The JSON Schema for editors says the same as the reader: the same keys, examples pass, mistakes do not."""

from __future__ import annotations

import jsonschema
import pytest
import yaml
from tests.work.annotation.corpus import CONFIG, ROOT

from basanite.work.annotation.config import categories, config_file, templates
from basanite.work.annotation.schema import json_schema

FILES = [CONFIG, CONFIG.parent / "older" / "nfl-scoring-2.yaml", ROOT / "examples/annotation/protests/annotation.yaml"]
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_examples_are_valid_under_the_schema(path):
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 3", "version: three"),
        ("frame: true", "frame: perhaps"),
        ("mention: span", "mention: words"),
        ("colour: blue", "colour: bleu"),
        ("value: count", "value: cuont"),
        ("cover: [predicate, object]", "cover: [statement]"),
        ("  - for: Game", "  - fro: Game"),
    ],
)
def test_mistakes_are_marked_in_an_editor_too(old, new):
    text = CONFIG.read_text(encoding="utf-8")
    assert old in text
    assert list(VALIDATOR.iter_errors(yaml.safe_load(text.replace(old, new, 1))))


def test_the_schema_knows_the_keys_that_the_reader_reads_and_no_others():
    schema = json_schema()
    found = {name: set(part.get("properties", ())) for name, part in schema["$defs"].items()}
    assert set(schema["properties"]) == config_file.KEYS
    assert found["category"] == categories.KEYS
    assert set(schema["$defs"]["field"]["oneOf"][1]["properties"]) == categories.FIELD_KEYS
    assert found["template"] == templates.KEYS
    assert found["migration"] == config_file.MIGRATION_KEYS
