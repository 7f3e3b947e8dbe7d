"""JSON Schemas of configuration files, from the classes that read them: editors complete keys and mark mistakes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Hashable, Iterator, Mapping
from itertools import pairwise
from types import UnionType
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import TypeAdapter

from basanite.formats.config_file import NOTHING, Entry, Section, is_section, section_entries, type_and_marks

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def config_schema(kind: type[Section], title: str, file_format: str = "") -> dict[str, Any]:
    """The JSON Schema of a file that a section describes; `file_format` is the text that its `format` line must have.

    What an editor cannot see, such as whether a name is defined elsewhere in the file, is left to the reader.
    """
    shapes: dict[str, Any] = {}
    top = _table_schema(kind, shapes)
    if file_format:
        top["properties"] = {"format": {"const": file_format}, **top["properties"]}
        top["required"] = ["format", *top.get("required", ())]
    return {"$schema": DIALECT, **top, "title": title, "$defs": shapes}


def entry_words(model: type) -> dict[str, str]:
    """The words that stand below each field of a class: for anyone who reads the class, the reference or the schema."""
    return {
        node.target.id: inspect.cleandoc(below.value.value)
        for node, below in pairwise(class_body(model))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def class_body(model: type) -> list[ast.stmt]:
    """The statements of a class as they are written."""
    found = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    return found.body if isinstance(found, ast.ClassDef) else []


def _table_schema(kind: type[Section], shapes: dict[str, Any]) -> dict[str, Any]:
    entries = [entry for entry in section_entries(cast("Hashable", kind)) if entry.may_be_written]
    words = entry_words(kind)
    properties = {entry.key: _entry_schema(entry, words.get(entry.name, ""), shapes) for entry in entries}
    for key, (value, about) in kind.file_only.items():
        properties[key] = {"description": about, **_schema_of(value, shapes)}
    needed = [entry.key for entry in entries if entry.is_needed]
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": properties,
        **({"required": needed} if needed else {}),
        "additionalProperties": kind.any_keys,
    }


def _entry_schema(entry: Entry, words: str, shapes: dict[str, Any]) -> dict[str, Any]:
    plain = entry.default is not NOTHING and isinstance(entry.default, str | int | float) and entry.default != ""
    marked = Annotated[(entry.form, *entry.marks)] if entry.marks else entry.form
    return {
        **({"description": words} if words else {}),
        **_schema_of(marked, shapes),
        **({"default": entry.default} if plain else {}),
    }


def _schema_of(kind: Any, shapes: dict[str, Any]) -> dict[str, Any]:
    """The schema of a kind of value; that of a table stands among the shapes and is only referred to."""
    if not any(map(is_section, _kinds_in(kind))):
        return TypeAdapter(kind).json_schema()
    plain = type_and_marks(kind)[0]
    arguments = get_args(plain)
    if get_origin(plain) in (Union, UnionType):
        return {"anyOf": [_schema_of(part, shapes) for part in arguments]}
    if get_origin(plain) is tuple:
        return {"type": "array", "items": _schema_of(arguments[0], shapes)}
    if get_origin(plain) is Mapping:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], shapes)}
    if plain.__name__ not in shapes:
        shapes[plain.__name__] = {}  # a table may hold others of its own kind
        shapes[plain.__name__] = _table_schema(plain, shapes)
    table = {"$ref": f"#/$defs/{plain.__name__}"}
    short = next((each for each in section_entries(plain) if each.name == plain.short), None)
    return {"anyOf": [_schema_of(short.kind, shapes), table]} if short else table


def _kinds_in(kind: Any) -> Iterator[Any]:
    """A kind of value and all that it is made of."""
    plain = type_and_marks(kind)[0]
    yield plain
    for part in get_args(plain):
        yield from _kinds_in(part)
