"""What the OpenAPI document says beyond the routes: how failures look, and how a token is sent."""

from __future__ import annotations

from typing import Any

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
    "default": {"description": "Refused; `problems` say why, and what to do."} | _FAILURE
}


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the way to send a token, and with failures as what they are: problem documents."""
    document["components"].setdefault("securitySchemes", {})["token"] = {"type": "http", "scheme": "bearer"}
    document["security"] = [{}, {"token": []}]
    for path in document["paths"].values():
        for operation in path.values():
            _as_problem(operation["responses"])
    return document


def _as_problem(responses: dict[str, Any]) -> None:
    """FastAPI documents its own form of 422; ours is the same as for every other failure."""
    responses.pop("422", None)
    default = responses.get("default")
    if default is not None:
        default["content"] = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
