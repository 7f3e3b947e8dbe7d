"""Keys that sign: 256 random bits in a file that only its owner reads, and HMAC-SHA256 over canonical JSON.

Whoever can check such a signature can also make one. That is enough here: the evaluation team signs its own log for
itself, and the key of a bundle is known to that team and the evaluation team alone. Receipts for everybody need a
public key and are made elsewhere (X-6).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import BasaniteError
from basanite.formats.bounded import read_bounded

FORMAT: Final = "basanite-key/1"
LARGEST: Final = 4096
BYTES: Final = 32


class BadKeyError(BasaniteError):
    """A key cannot be read or must not be replaced; the message says what to do."""


@dataclass(frozen=True)
class SigningKey:
    """A secret that signs."""

    secret: bytes = field(repr=False)

    @classmethod
    def drawn(cls, dice: Callable[[int], bytes] = os.urandom) -> SigningKey:
        """A new one."""
        return cls(dice(BYTES))

    @property
    def name(self) -> str:
        """What the key is called where it is used; tells nothing about the secret."""
        return hashlib.sha256(b"basanite key name\0" + self.secret).hexdigest()[:16]

    def signature(self, said: Mapping[str, Any]) -> str:
        """The signature of some plain data."""
        return f"hmac-sha256:{hmac.new(self.secret, canonical(said), hashlib.sha256).hexdigest()}"

    def signed(self, said: Mapping[str, Any], signature: Any) -> bool:
        """Whether the signature is this key's for these data."""
        return isinstance(signature, str) and hmac.compare_digest(signature.encode(), self.signature(said).encode())


def canonical(said: Mapping[str, Any]) -> bytes:
    """Plain data as bytes, the same for the same data."""
    return json.dumps(said, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def digest(said: Mapping[str, Any]) -> str:
    """The hash of plain data.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return f"sha256:{hashlib.sha256(canonical(said)).hexdigest()}"


def write_key(path: Path, key: SigningKey) -> None:
    """Write a new key that only its owner can read; an old one is never replaced."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadKeyError(f"{path} is there already, and a key is never replaced. Choose another name.") from None
    with open(handle, "w", encoding="utf-8") as file:
        file.write(json.dumps({"format": FORMAT, "secret": key.secret.hex()}) + "\n")


def read_key(path: Path) -> SigningKey:
    """The key in a file."""
    try:
        found = json.loads(read_bounded(path, LARGEST))
        secret = bytes.fromhex(found["secret"]) if found.get("format") == FORMAT else b""
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        secret = b""
    if len(secret) != BYTES:
        raise BadKeyError(f"{path} holds no key. Make one: basanite harness freeze PLAN --new-key {path.name}")
    return SigningKey(secret)
