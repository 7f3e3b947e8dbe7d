"""What the OpenAPI document says beyond the routes: how failures look, and how a token is sent."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field


class ProblemShown(BaseModel):
    """One thing that is wrong, with its place and its cure, as `validate --json` lists it."""

    rule: str
    severity: str
    where: str
    file: str
    line: int | None
    field: int | None
    column: int | None
    found: str
    message: str
    fix: str


class Failure(BaseModel):
    """RFC 9457, with all problems."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    problems: list[ProblemShown] = Field(default_factory=list)
    retry_at: str | None = None


_FAILURE = {
    "model": Failure,
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
}
FAILURES: dict[int | str, dict[str, Any]] = {
    "default": {"description": "Rejected; `problems` say why, and how to fix them."} | _FAILURE
}


SCHEMA_NAMES: Final = {
    "basanite__server__api__judging__Answer": "basanite__server__api__panels__judging__Answer",
    "basanite__server__api__panels__AgreementShown": "basanite__server__api__panels__organising__AgreementShown",
    "basanite__server__api__reading__TaskShown": "basanite__server__api__reading__tasks__TaskShown",
}
"""Classes of one name in two modules are called by their modules, too: clients that were generated from the document
know these schemas by the modules of the first release."""


def complete_document(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the way to send a token, and with failures as what they are: problem documents."""
    document = _keep_schema_names(document)
    document["components"].setdefault("securitySchemes", {})["token"] = {"type": "http", "scheme": "bearer"}
    document["security"] = [{}, {"token": []}]
    for path in document["paths"].values():
        for operation in path.values():
            _describe_failures(operation["responses"])
    return document


def _keep_schema_names(part: Any) -> Any:
    """A part of the document with the names of schemas that clients know, where they are defined and referred to."""
    if isinstance(part, dict):
        kept = {SCHEMA_NAMES.get(name, name): _keep_schema_names(value) for name, value in part.items()}
        return dict(sorted(kept.items())) if SCHEMA_NAMES.keys() & part.keys() else kept
    if isinstance(part, list):
        return [_keep_schema_names(one) for one in part]
    prefix, _, name = part.rpartition("/") if isinstance(part, str) else ("", "", "")
    return f"{prefix}/{SCHEMA_NAMES[name]}" if name in SCHEMA_NAMES else part


def _describe_failures(responses: dict[str, Any]) -> None:
    """FastAPI documents its own form of 422; ours is the same as for every other failure."""
    responses.pop("422", None)
    default = responses.get("default")
    if default is not None:
        default["content"] = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
