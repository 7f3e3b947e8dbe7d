"""What configuration files may say, from the classes that hold it: fields, types, defaults, and words about each."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from basanite.campaign import settings
from basanite.campaign.model import plan as campaign
from basanite.harness.plan import model as harness
from tools.website.writing import cell, code, page, table

NONE = object()


def settings_page() -> str:
    """The settings of a server: those at the top, then each table."""
    intro = """In `basanite.toml` beside the server, or from the environment, which wins: `BASANITE_MAIL__HOST` is
`host` in the table `mail`. [Run a server](../../how-to/run-a-server.md) shows how."""
    return page("# Settings of a server", intro, *map(_described, _classes(settings, settings.Settings)))


def campaign_page() -> str:
    """The values that a campaign file becomes."""
    intro = "What a campaign is once its file is read. [Campaign files](../campaign-file.md) says how each is written."
    return page("# Campaign: the model", intro, *map(_described, _classes(campaign, campaign.Campaign)))


def plan_page() -> str:
    """The values that a plan of the harness becomes."""
    intro = "What a plan is once its file is read. [Plans](../plan.md) says how each is written."
    return page("# Plan: the model", intro, *map(_described, _classes(harness, harness.Plan)))


def _classes(module: Any, first: type) -> Iterator[type]:
    """The classes of a module that hold settings, the one that holds all others first."""
    yield first
    for found in vars(module).values():
        ours = inspect.isclass(found) and found.__module__ == module.__name__ and found is not first
        if ours and (is_dataclass(found) or issubclass(found, BaseModel)):
            yield found


def _described(model: type) -> str:
    words = _words(model)
    rows = (
        [code(name), code(kind), code(default), cell(words.get(name, ""))] for name, kind, default in _fields(model)
    )
    about = inspect.cleandoc(model.__doc__ or "")
    return page(f"## {model.__name__}", cell(about), table(["field", "type", "default", "what it is"], rows))


def _fields(model: type) -> Iterator[tuple[str, str, str]]:
    kinds = _annotations(model)
    if issubclass(model, BaseModel):
        held: Sequence[tuple[str, Any]] = [(name, _pydantic(field)) for name, field in model.model_fields.items()]
    else:
        held = [(field.name, _plain(field)) for field in fields(model)]  # type: ignore[arg-type]
    return ((name, kinds.get(name, ""), _shown(value)) for name, value in held)


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
    return "" if value is None or held or value in ((), {}, "") else str(value)


def _annotations(model: type) -> dict[str, str]:
    """Types as they are written in the class."""
    return {name: ast.unparse(node.annotation) for name, node in _declared(model)}


def _words(model: type) -> dict[str, str]:
    """The words that stand below a field: they are for whoever reads the class, and for whoever reads this page."""
    body = _body(model)
    pairs = pairwise(body)
    return {
        node.target.id: inspect.cleandoc(below.value.value)
        for node, below in pairs
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


def _declared(model: type) -> Iterator[tuple[str, ast.AnnAssign]]:
    for node in _body(model):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def _body(model: type) -> list[ast.stmt]:
    found = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    return found.body if isinstance(found, ast.ClassDef) else []
