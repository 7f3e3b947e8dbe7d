"""The configuration language as a JSON Schema, so that editors complete keys and mark mistakes while one writes.

The schema says what a file may look like; what must agree with the ontology, and with the rest of the file, is told by
`basanite annotation check`.
"""

from __future__ import annotations

from typing import Any, Final

from basanite.reading.provenance import ROLES
from basanite.work.annotation.config.categories import COLOURS, MENTIONS, MOST_CATEGORIES, WRITTEN

ID: Final = "https://json-schema.org/draft/2020-12/schema"
WORD: Final = "^[A-Za-z\\u0080-\\uffff][\\w]*$"
KEY: Final = {"type": ["string", "integer"], "pattern": "^.$", "description": "One letter or digit."}
VARIABLE: Final = {"type": "string", "pattern": "^\\?[^\\W\\d]\\w*$"}
TEXTS: Final = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
VALUE: Final = {"type": ["string", "integer", "number", "boolean"]}


def json_schema() -> dict[str, Any]:
    """The schema of a configuration file.

    >>> json_schema()["required"]
    ['annotation', 'version', 'categories']
    """
    return {
        "$schema": ID,
        "title": "Annotation configuration",
        "type": "object",
        "required": ["annotation", "version", "categories"],
        "additionalProperties": False,
        "properties": {
            "annotation": _text("The name of the use case.", pattern="^[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}$"),
            "version": {"type": "integer", "minimum": 1, "description": "Increase it with every change."},
            "title": _text("The title that people see."),
            "ontology": _text("A file of this folder or of the package. [default: ontology.ttl]"),
            "namespace": _text("The namespace of bare names. [default: the package's]"),
            "prefixes": {"type": "object", "additionalProperties": {"type": "string"}},
            "guidelines": _text("A Markdown file that annotators have at hand."),
            "categories": _table_of({"$ref": "#/$defs/category"}, most=MOST_CATEGORIES),
            "layout": _layout(),
            "assert": {"type": "array", "items": {"$ref": "#/$defs/template"}},
            "migrate": {"type": "array", "items": {"$ref": "#/$defs/migration"}},
        },
        "$defs": {
            "category": _category(),
            "field": _field(),
            "choices": _choices(),
            "template": _template(),
            "provenance": _provenance(),
            "migration": _migration(),
        },
    }


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _table_of(schema: dict[str, Any], *, most: int = 1000) -> dict[str, Any]:
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": most,
        "propertyNames": {"pattern": WORD},
        "additionalProperties": schema,
    }


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def _layout() -> dict[str, Any]:
    form = _object({"tabs": {"type": "string"}, "columns": {"type": "string"}, "order": TEXTS})
    side = {"oneOf": [{"const": "text"}, form]}
    return _object({"left": side, "right": side})


def _category() -> dict[str, Any]:
    fields = {**_table_of({"$ref": "#/$defs/field"}), "properties": {"mention": {"enum": list(MENTIONS)}}}
    return _object(
        {
            "title": _text("What annotators read."),
            "in": _text("The frame that it lies in."),
            "frame": {"type": "boolean", "description": "Whether it is a form of its own, with others in it."},
            "repeat": {
                "type": ["string", "integer"],
                "pattern": "^\\d*(\\.\\.)?\\d*$",
                "description": '2, "1..", "0..3"',
            },
            "mention": {"enum": list(MENTIONS), "description": "Whether words of the text are marked for it."},
            "name": {"$ref": "#/$defs/field"},
            "value": {"$ref": "#/$defs/field"},
            "choices": {"$ref": "#/$defs/choices"},
            "fields": fields,
            "table": fields,
            "inferred": {"type": "boolean", "description": "Whether there is a box for what is only inferred."},
            "key": KEY,
            "colour": {"oneOf": [{"enum": list(COLOURS)}, {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}]},
            "help": _text("A line that annotators see."),
        }
    )


def _field() -> dict[str, Any]:
    long = _object(
        {
            "type": {"enum": list(WRITTEN)},
            "choices": {"$ref": "#/$defs/choices"},
            "object": TEXTS | {"description": "The category that it points to, or a list of them."},
            "title": {"type": "string"},
            "needed": {"type": "boolean"},
            "key": KEY,
            "help": {"type": "string"},
        }
    )
    return {"oneOf": [{"enum": list(WRITTEN)}, long]}


def _choices() -> dict[str, Any]:
    long = _object({"value": VALUE, "title": {"type": "string"}, "key": KEY}, "value")
    one = {"oneOf": [VALUE, long]}
    return {
        "oneOf": [
            _text("A file with the columns value, title and key.", pattern="\\.(csv|tsv)$"),
            {"type": "array", "items": one, "minItems": 1},
            {"type": "object", "propertyNames": {"pattern": "^.$"}, "additionalProperties": one, "minProperties": 1},
        ]
    }


def _template() -> dict[str, Any]:
    triple = _text("A triple such as ?g type NFLGame.")
    say = _object({"say": triple, "provenance": {"$ref": "#/$defs/provenance"}}, "say")
    one = {"oneOf": [triple, say]}
    values = {"oneOf": [VALUE, {"type": "array", "items": VALUE}]}
    return _object(
        {
            "for": _text("The category that says it."),
            "mint": {
                "description": "Things that it makes, with or without a name.",
                "oneOf": [
                    VARIABLE,
                    {"type": "array", "items": VARIABLE},
                    {"type": "object", "propertyNames": VARIABLE, "additionalProperties": {"type": "string"}},
                ],
            },
            "then": {"oneOf": [one, {"type": "array", "items": one, "minItems": 1}]},
            "when": {
                "oneOf": [VALUE, {"type": "array", "items": VALUE}, {"type": "object", "additionalProperties": values}]
            },
            "provenance": {"$ref": "#/$defs/provenance"},
            "no-text": {"oneOf": [VARIABLE, {"type": "array", "items": VARIABLE}]},
            "sum": {"type": "object", "propertyNames": VARIABLE, "additionalProperties": {"type": "string"}},
        },
        "for",
        "then",
    )


def _provenance() -> dict[str, Any]:
    cover = _object({"cover": {"type": "array", "items": {"enum": list(ROLES[1:])}, "minItems": 1}}, "cover")
    return {
        "type": "object",
        "propertyNames": {"anyOf": [{"enum": list(ROLES)}, VARIABLE]},
        "additionalProperties": {"oneOf": [*TEXTS["oneOf"], cover]},
    }


def _migration() -> dict[str, Any]:
    names = {"type": "object", "additionalProperties": {"type": "string"}}
    values = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": VALUE}}
    return _object(
        {
            "from": {"type": "integer", "minimum": 1},
            "rename": names,
            "fields": names,
            "values": values,
            "drop": TEXTS,
        },
        "from",
    )
