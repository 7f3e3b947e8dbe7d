"""What a program says about itself when it is asked to `describe`: every mistake in it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from basanite.harness.foreign.exchange import FORMATS
from basanite.harness.modules.interfaces import Form, Role
from basanite.harness.steps.layout import ModuleError

FORMAT: Final = "basanite-foreign/1"
SCALES: Final = ("margin", "probability", "rating")
FEWEST_LAYERS: Final = 3
KEYS: Final[Mapping[str, type]] = {
    "format": str,
    "name": str,
    "role": str,
    "summary": str,
    "version": str,
    "needs": str,
    "gives": str,
    "scale": str,
    "formats": list,
    "schema": dict,
    "random": bool,
    "greedy": bool,
    "declares": dict,
}
NEEDED: Final = ("format", "name", "role")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "format": (FORMAT,),
    "role": get_args(Role),
    "needs": get_args(Form),
    "gives": get_args(Form),
    "scale": SCALES,
}


@dataclass(frozen=True)
class Description:
    """What is known of a program before it runs."""

    name: str
    role: Role
    summary: str = ""
    version: str = "1"
    needs: Form | None = None
    gives: Form = "dense"
    scale: Any = "margin"
    formats: tuple[str, ...] = ("tsv",)
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "additionalProperties": False})
    random: bool = True
    greedy: bool = False
    declares: Mapping[str, Any] = field(default_factory=dict)
    """Whatever the evaluation team must know, such as patches that are sampled inside (A33)."""


def described(answer: list[Any], maker: str) -> Description:
    """The description in a program's answer; if anything is wrong with it, all of that is told."""
    if len(answer) != 1 or not isinstance(answer[0], dict):
        raise ModuleError(f"{maker} must print one JSON object on one line")
    told = answer[0]
    wrong = list(_faults(told))
    if wrong:
        raise ModuleError(f"{maker}: {'; '.join(wrong)}")
    plain = {name: value for name, value in told.items() if name not in ("format", "formats")}
    return Description(**plain, formats=tuple(told.get("formats", ("tsv",))))


def _faults(told: Mapping[str, Any]) -> list[str]:
    wrong = [f"`{name}` is missing" for name in NEEDED if name not in told]
    wrong += [f"`{name}` is unknown" for name in told if name not in KEYS]
    known = {name: value for name, value in told.items() if name in KEYS}
    wrong += [f"`{name}` is no {KEYS[name].__name__}" for name, value in known.items() if type(value) is not KEYS[name]]
    for name, allowed in CHOICES.items():
        if isinstance(told.get(name), str) and told[name] not in allowed:
            wrong.append(f"`{name}` is {told[name]!r} and not one of {', '.join(allowed)}")
    formats = told.get("formats", [])
    if isinstance(formats, list):
        wrong += [
            f"the format {kind!r} is unknown: use {', '.join(FORMATS)}" for kind in formats if kind not in FORMATS
        ]
    return wrong + _schema_faults(told.get("schema", {}))


def _schema_faults(schema: Any) -> list[str]:
    """The schema is a stranger's too: it must be one, and may not point elsewhere."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, dict):
        return []
    if "$ref" in str(schema) or "$dynamicRef" in str(schema):
        return ["`schema` may not use $ref"]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return [f"`schema` is no JSON Schema: {error.message[:200]}"]
    return []
