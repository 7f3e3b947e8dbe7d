"""Suggestions from an endpoint: texts go out as JSON, labels come back (R-41).

The address is checked as that of a webhook is, when it is given and when it is called. What comes back is bounded and
checked in full before anything of it is kept, and no transaction is open while somebody else's program works.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.notices.webhook_calls import (
    Call,
    RefusedAddressError,
    checked_url,
    exchange,
    system_resolver,
)
from basanite.formats.strict_json import parse
from basanite.problems import Problem
from basanite.work.annotation.config import Config
from basanite.work.annotation.suggestions import MOST_IN_A_TEXT, Suggested, can_suggest

RULE: Final = "R-41"
FORMAT: Final = "basanite-suggest/1"
LARGEST_ANSWER: Final = 16 << 20
AT_ONCE: Final = 20
CHARACTERS_AT_ONCE: Final = 200_000
SECONDS: Final = 120.0
NAMED: Final = 10
"""Mistakes of one answer that are listed."""


def labels_of(config: Config) -> tuple[str, ...]:
    """The labels that an endpoint may suggest."""
    return tuple(one.name for one in config.categories.values() if can_suggest(config, one.name))


def ask_endpoint(
    url: str, texts: Mapping[str, str], labels: Sequence[str], *, loopback: bool = False
) -> dict[str, tuple[Suggested, ...]]:
    """What an endpoint suggests for each text; refused with what is wrong if any part of an answer is."""
    try:
        checked_url(url, loopback=loopback)
        found: dict[str, tuple[Suggested, ...]] = {}
        for some in _batches(texts):
            found |= _answer(url, some, labels, loopback=loopback)
    except RefusedAddressError as error:
        raise _unreachable(error) from error
    return found


def _unreachable(why: object) -> RefusedError:
    fix = "give the https address of an endpoint that is reachable, or allow addresses of this machine"
    return refused(RULE, f"the endpoint cannot be asked: {why}", fix, status=422)


def _batches(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The texts, some at a time."""
    batch: dict[str, str] = {}
    for name, text in texts.items():
        if batch and (len(batch) == AT_ONCE or sum(map(len, batch.values())) + len(text) > CHARACTERS_AT_ONCE):
            yield batch
            batch = {}
        batch[name] = text
    if batch:
        yield batch


def _answer(
    url: str, texts: Mapping[str, str], labels: Sequence[str], *, loopback: bool
) -> dict[str, tuple[Suggested, ...]]:
    asked = {
        "format": FORMAT,
        "labels": list(labels),
        "texts": [{"name": name, "text": text} for name, text in texts.items()],
    }
    body = json.dumps(asked, ensure_ascii=False).encode()
    request = Call(url, body, {"Content-Type": "application/json", "Accept": "application/json"})
    try:
        status, content = exchange(
            request, resolve=system_resolver, loopback=loopback, seconds=SECONDS, most=LARGEST_ANSWER
        )
    except (OSError, ValueError) as error:
        raise _unreachable(error) from error
    if not 200 <= status < 300:
        raise _unreachable(f"it answered {status}")
    parsed = parse(content, limit=LARGEST_ANSWER, rule=RULE)
    listed = parsed.value.get("texts") if isinstance(parsed.value, dict) else None
    if parsed.fault or not isinstance(listed, list):
        why = parsed.fault or "there is no list `texts` in it"
        fix = f'answer {{"format": "{FORMAT}", "texts": [{{"name": …, "labels": […]}}]}}'
        raise refused(RULE, f"the answer of the endpoint cannot be read: {why}", fix, status=422)
    faults: list[Problem] = []
    found = dict(_read_texts(listed, texts, labels, faults))
    if faults:
        raise RefusedError(faults[:NAMED], status=422)
    return found


def _read_texts(
    listed: Iterable[Any], texts: Mapping[str, str], labels: Sequence[str], faults: list[Problem]
) -> Iterator[tuple[str, tuple[Suggested, ...]]]:
    for entry in listed:
        name = entry.get("name") if isinstance(entry, dict) else None
        given = entry.get("labels") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in texts:
            faults.append(_fault(str(name)[:100], "a text that was not asked about", "answer the names that were sent"))
        elif not isinstance(given, list) or len(given) > MOST_IN_A_TEXT:
            fix = f"give a list `labels` of at most {MOST_IN_A_TEXT}"
            faults.append(_fault(name, "there is no list of labels, or it is too long", fix))
        else:
            made = [_read_label(one, name, len(texts[name]), labels, faults) for one in given]
            kept = {one.key: one for one in made if one is not None}
            yield name, tuple(kept.values())


def _read_label(one: Any, name: str, length: int, labels: Sequence[str], faults: list[Problem]) -> Suggested | None:
    """A label with the words it is for, or None and what is wrong."""
    given = one if isinstance(one, dict) else {}
    label, start, end, score = (given.get(key) for key in ("label", "start", "end", "score"))
    if label not in labels:
        faults.append(_fault(name, f"there is no label {str(label)[:60]!r}", f"use {', '.join(labels)}"))
    elif type(start) is not int or type(end) is not int or not 0 <= start < end <= length:  # True is no place
        fix = f"give start and end in code points, from 0 to {length}"
        faults.append(_fault(name, f"{label} lies outside the text: {start!r} to {end!r}"[:200], fix))
    elif score is not None and not (isinstance(score, int | float) and math.isfinite(score)):
        faults.append(_fault(name, f"the score of {label} is no number", "leave `score` out, or give a number"))
    else:
        return Suggested(str(label), ((start, end),), None if score is None else float(score))
    return None


def _fault(name: str, message: str, fix: str) -> Problem:
    return Problem(RULE, name, None, None, message, fix, where="reference")
