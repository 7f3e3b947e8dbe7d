"""The process itself: limits first where no box is around it, then the order that lies in `in/`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from basanite.campaign.answering.inside.desk import GIVEN, ORDER, OUT, OUT_OF_MEMORY, REFUSED, Desk, RefusalError
from basanite.errors import BasaniteError, InvalidInputError
from basanite.problems import Problem

WORKS: Final[Mapping[str, tuple[str, str]]] = {
    "prepare": ("preparing", "prepare"),
    "task": ("making", "make"),
    "reason": ("reasoning", "reason"),
    "sparql": ("asking", "ask"),
    "answers": ("answering", "take"),
    "score": ("scoring", "score"),
    "explain": ("explaining", "explain"),
    "repack": ("repacking", "repack"),
}
"""Each work with the module and function that do it; only that module is loaded, for somebody is waiting."""


def main() -> int:
    """Carry out the order; what is wrong with it is written down as problems."""
    order = json.loads((GIVEN / ORDER).read_bytes())
    if order["limits"]:
        from basanite.campaign.jobs.child import confine

        confine(order["limits"])
    desk = Desk(order["data"], {role: GIVEN / path for role, path in order["files"].items()}, OUT)
    module, function = WORKS[order["work"]]
    try:
        getattr(import_module(f"basanite.campaign.answering.inside.{module}"), function)(desk)
    except MemoryError:
        return OUT_OF_MEMORY
    except BasaniteError as error:
        _tell(error)  # and end well: what a process writes that ends otherwise is not taken over
    return 0


def _tell(error: BasaniteError) -> None:
    found = [one.as_dict() for one in _problems(error)]
    status = error.status if isinstance(error, RefusalError) else 422
    (OUT / REFUSED).write_text(json.dumps({"status": status, "problems": found}), encoding="utf-8")


def _problems(error: BasaniteError) -> list[Problem]:
    if isinstance(error, InvalidInputError):
        return list(error.findings.problems)
    if isinstance(error, RefusalError):
        return [error.problem]
    message, _, fix = str(error).partition(". ")
    return [Problem("R-23", "", None, None, message.removesuffix("."), fix or "change the request")]


if __name__ == "__main__":
    sys.exit(main())
