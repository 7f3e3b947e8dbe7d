"""What configuration files may say, from the classes that hold it: fields, types, defaults, and words about each."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, cast, get_type_hints

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from basanite.campaign import settings
from basanite.campaign.model import plan as campaign
from basanite.formats.config_file import NOTHING, Like, Section, Usual, section_entries
from basanite.formats.config_schema import class_body, entry_words
from basanite.formats.toml_file import Table
from basanite.harness import plan as harness
from basanite.work import questions, scheme
from tools.website.writing import cell, code, page, table

NONE = object()


def settings_page() -> str:
    """The settings of a server: those at the top, then each table."""
    intro = """In `basanite.toml` beside the server, or from the environment, which wins: `BASANITE_MAIL__HOST` is
`host` in the table `mail`. [Run a server](../../how-to/run-a-server.md) shows how."""
    return page("# Settings of a server", intro, *map(_described, _classes(settings, settings.Settings)))


def campaign_page() -> str:
    """The values that a campaign file becomes."""
    intro = (
        "The values that are read from a campaign file. [Campaign files](../campaign-file.md) shows how to write one."
    )
    return page("# Campaign: the model", intro, *map(_described, _classes(campaign, campaign.Campaign)))


def plan_page() -> str:
    """The values that a plan of the harness becomes."""
    intro = "The values that are read from a plan. [Plans](../plan.md) shows how to write one."
    return page("# Plan: the model", intro, *map(_described, _classes(harness, harness.Plan)))


def scheme_page() -> str:
    """The values that a scheme of judging becomes."""
    intro = "The values in a judging scheme. [Judging schemes](../judging-schemes.md) shows how to write one."
    sections = (*_classes(scheme, scheme.Scheme), *_classes(questions, questions.Question))
    return page("# Judging scheme: the model", intro, *map(_described, sections))


def _classes(module: Any, first: type) -> Iterator[type]:
    """The classes of a module that hold settings, the one that holds all others first; not those that read tables."""
    yield first
    for found in vars(module).values():
        ours = inspect.isclass(found) and found.__module__ == module.__name__ and found is not first
        if ours and not issubclass(found, Table) and (is_dataclass(found) or issubclass(found, BaseModel)):
            yield found


def _described(model: type) -> str:
    words = entry_words(model)
    rows = (
        [code(name), code(kind), code(default), cell(words.get(name, ""))] for name, kind, default in _fields(model)
    )
    about = inspect.cleandoc(model.__doc__ or "")
    return page(f"## {model.__name__}", cell(about), table(["field", "type", "default", "what it is"], rows))


def _fields(model: type) -> Iterator[tuple[str, str, str]]:
    if issubclass(model, Section):
        return _entries(model)
    kinds = _annotations(model)
    if issubclass(model, BaseModel):
        held: Sequence[tuple[str, Any]] = [(name, _pydantic(field)) for name, field in model.model_fields.items()]
    else:
        held = [(field.name, _plain(field)) for field in fields(model)]  # type: ignore[arg-type]
    return ((name, kinds.get(name, ""), _shown(value)) for name, value in held)


def _entries(model: type[Section]) -> Iterator[tuple[str, str, str]]:
    """The entries of a table of a configuration file; what pydantic checks beside the type is left out."""
    kinds = get_type_hints(model)
    for entry in section_entries(cast("Hashable", model)):
        usual, like = entry.mark(Usual), entry.mark(Like)
        plain = NONE if entry.default is NOTHING else entry.default() if callable(entry.default) else entry.default
        words = (
            usual.words.replace("`", "")
            if usual
            else f"its {like.other}"
            if like
            else "needed"
            if entry.is_needed
            else _shown(plain)
        )
        yield entry.key, re.sub(r"\b\w+\.", "", inspect.formatannotation(kinds[entry.name])), words


def _pydantic(field: Any) -> Any:
    return (
        field.get_default(call_default_factory=True)
        if field.default is not PydanticUndefined or field.default_factory
        else NONE
    )


def _plain(field: Any) -> Any:
    if field.default is not MISSING:
        return field.default
    return NONE if field.default_factory is MISSING else field.default_factory()


def _shown(value: Any) -> str:
    if value is NONE:
        return "needed"
    held = isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type))
    return "" if value is None or held or value in ((), {}, "", frozenset()) else str(value)


def _annotations(model: type) -> dict[str, str]:
    """Types as they are written in the class."""
    return {name: ast.unparse(node.annotation) for name, node in _declared(model)}


def _declared(model: type) -> Iterator[tuple[str, ast.AnnAssign]]:
    for node in class_body(model):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node
