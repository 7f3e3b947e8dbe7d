"""What a judge may answer: judging checks it against the scheme, here it becomes a refusal with every problem (R-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from basanite.campaign.model.refusals import RefusedError, problem
from basanite.judging.answers import read_answers
from basanite.judging.items import Item
from basanite.judging.scheme import Scheme


def checked(scheme: Scheme, answers: Mapping[str, Any], item: Item | None = None) -> dict[str, Any]:
    """The answers in their plain form; refused with every problem that they have."""
    found, problems = read_answers(scheme, item, answers)
    if problems:
        raise RefusedError(problems, status=422)
    return found


def checked_flags(scheme: Scheme, flags: Iterable[str]) -> list[str]:
    """The flags that a judge set; only those of the scheme."""
    known, given = [flag.value for flag in scheme.flags], list(dict.fromkeys(flags))
    if unknown := [flag for flag in given if flag not in known]:
        fix = f"one of: {', '.join(known)}" if known else "leave flags out"
        raise RefusedError(problem("X-9", "there is no such flag", fix, found=str(unknown[0])), status=422)
    return given
