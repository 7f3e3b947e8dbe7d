"""Making receipts. Only a process that neither parses uploads nor runs scorers may hold a signing key (X-6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from basanite.receipts.canonical import canonical
from basanite.receipts.keys import SigningKey

FORMAT = "basanite-receipt/1"
Kind = Literal["intake", "score", "head"]
KINDS = ("intake", "score")
"""Those that are given to teams; a head stands for the log alone, outside the database (X-31)."""


def make(kind: Kind, content: Mapping[str, Any], key: SigningKey) -> bytes:
    """A receipt: canonical bytes with type, format, the key's name, the content and the signature of all these."""
    body = {"content": dict(content), "format": FORMAT, "key": key.id, "type": kind}
    return canonical(body | {"signature": key.sign(message(body))})


def message(body: Mapping[str, Any]) -> bytes:
    """What is signed: the format's name, so that no other thing we sign can be taken for a receipt, and the rest."""
    return f"{FORMAT}\n".encode() + canonical(body)
