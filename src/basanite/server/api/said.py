"""What a call says about a submission, from the words of tus or the parameters of an address."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from basanite.campaign.model.declared import Declared
from basanite.campaign.model.refusals import refused

WORDS = ("task", "label", "type", "language", "queryset", "dataset", "domains", "track", "condition", "description")
LONGEST_HEADER = 64 * 1024


def declared(said: Mapping[str, str]) -> Declared:
    """The choices that a submission comes with; data sets are joined by +, domains by -."""
    return Declared(
        task=said.get("task", ""),
        label=said.get("label", ""),
        type=said.get("type") or "contrastive",
        language=said.get("language", ""),
        queryset=said.get("queryset", ""),
        dataset=_split(said.get("dataset", ""), "+"),
        domains=_split(said.get("domains", ""), "-"),
        track=said.get("track", ""),
        condition=said.get("condition") or "unconstrained",
        description=description(said.get("description", "")),
        name=said.get("filename", ""),
    )


def _split(text: str, sign: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(sign) if part)


def description(text: str) -> dict[str, Any]:
    """A system's description: plain words, or a JSON object with the fields that a track asks for (P-31).

    >>> description("a small system"), description('{"text": "small", "gpu": "none"}')["gpu"]
    ({'text': 'a small system'}, 'none')
    """
    if not text.lstrip().startswith("{"):
        return {"text": text} if text else {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {"text": text}
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise refused("M77", "the description holds something other than words", "write one text per field", status=422)
    return fields


def words_of(header: str) -> dict[str, str]:
    """The words that `Upload-Metadata` carries, each in base64.

    >>> words_of("task Q0xJUg==,label YQ==")
    {'task': 'CLIR', 'label': 'a'}
    """
    if len(header) > LONGEST_HEADER:
        raise _unreadable()
    pairs = (pair.strip().partition(" ") for pair in header.split(",") if pair.strip())
    return {name: _plain(value) for name, _, value in pairs}


def _plain(value: str) -> str:
    try:
        plain = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        raise _unreadable() from None
    if "\0" in plain:  # one of our databases keeps none
        raise _unreadable()
    return plain


def _unreadable() -> Exception:
    fix = "write `name base64, name base64 …` in UTF-8"
    return refused("M60", "Upload-Metadata cannot be read", fix, status=400)
