"""Commitments to a sealed truth: an HMAC under a random 256-bit nonce that is published at release (X-1).

A plain hash of a key of Y and N confirms guesses: whoever tries all answers of a short key, or changes the few
doubtful ones of a long one, sees when the hash agrees. Without the nonce nothing can be tried.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

NONCE_BYTES = 32


def commit(nonce: bytes, content: bytes) -> str:
    """The commitment to content under a nonce.

    >>> commit(bytes(32), b"sealed")[:16]
    '3a741b8fe58daf60'
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
    return hmac.new(nonce, content, hashlib.sha256).hexdigest()


def opens(commitment: str, nonce: bytes, content: bytes) -> bool:
    """Whether a published nonce shows that the commitment was to this content."""
    return len(nonce) == NONCE_BYTES and hmac.compare_digest(commit(nonce, content), commitment)


def reference_content(files: Mapping[str, Any]) -> bytes:
    """What is committed to of a reference: the digests of its files by role, without their names.

    >>> reference_content({"reference": ["aa"], "queries": None, "names": {"aa": "key.tgz"}})
    b'{"queries":null,"reference":["aa"]}'
    """
    plain = {role: value for role, value in files.items() if role != "names"}
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()
