"""Sealed files (`basanite-sealed/1`): encrypted in pieces, so that any size goes through in little memory.

One line of JSON says how the key is made; then come pieces of 1 MiB, each AES-256-GCM with its tag. The number of a
piece and whether it is the last one are in its nonce: nothing can be cut off, put in, or put in another order unseen.
Packs that are handed out early (M89) and backups (X-15) are such files; docs/reference/receipts.md has the format.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from basanite.errors import BasaniteError

FORMAT = "basanite-sealed/1"
PIECE, TAG = 2**20, 16
KEY_BYTES = 32
LONGEST_HEAD = 1000
COST, MOST_COST = 2**15, 2**17
"""Of scrypt, with r = 8 and p = 1: 32 MiB to make a key; a head that asks for more than 128 MiB is refused."""


class SealedError(BasaniteError):
    """A sealed file cannot be opened: the key is wrong, or the file was cut off or changed."""


class Readable(Protocol):
    """What is read forward, as files are."""

    def readline(self, limit: int, /) -> bytes:
        """The next line with its end, or as much of it as the limit allows."""

    def read(self, size: int, /) -> bytes:
        """The next so many bytes, fewer only at the end."""


@dataclass(frozen=True, repr=False)
class Lock:
    """What a file is sealed with: a key of 32 bytes, or a passphrase."""

    secret: bytes
    passphrase: bool = False

    @classmethod
    def from_file(cls, content: bytes) -> Lock:
        """The lock that a key file gives: 64 hex digits, or 32 bytes."""
        text = content.strip()
        if len(text) == 2 * KEY_BYTES:
            try:
                return cls(bytes.fromhex(text.decode("ascii")))
            except ValueError:
                pass
        if len(content) == KEY_BYTES:
            return cls(content)
        raise SealedError("This is not a key file: it must hold 64 hex digits, as printed by `openssl rand -hex 32`.")

    def head(self) -> dict[str, Any]:
        """How a reader makes the key of one file from the secret: the salt is new for each file."""
        salt = secrets.token_hex(16)
        made = {"kdf": "scrypt", "n": COST} if self.passphrase else {"kdf": "hkdf"}
        return {"format": FORMAT, "salt": salt} | made

    def key(self, head: dict[str, Any]) -> bytes:
        """The key of the file with this head."""
        salt = bytes.fromhex(head["salt"])
        if self.passphrase:
            return hashlib.scrypt(self.secret, salt=salt, n=head["n"], r=8, p=1, maxmem=2**28, dklen=KEY_BYTES)
        return _derive_key(self.secret, salt)


def seal(content: Iterable[bytes], lock: Lock) -> Iterator[bytes]:
    """The pieces of a sealed file; content may come in pieces of any size."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    head = lock.head()
    line = json.dumps(head, sort_keys=True).encode() + b"\n"
    cipher = AESGCM(lock.key(head))
    yield line
    for number, (piece, last) in enumerate(_pieces(content)):
        yield cipher.encrypt(_nonce(number, last=last), piece, line)


def sealed_size(size: int) -> int:
    """How long content of this size is when sealed with a key.

    >>> sealed_size(0), sealed_size(2**20), sealed_size(2**20 + 1)
    (107, 1048683, 1048700)
    """
    head = len(json.dumps(Lock(bytes(KEY_BYTES)).head())) + 1
    return head + size + TAG * max(1, -(-size // PIECE))


def unseal(file: Readable, lock: Lock) -> Iterator[bytes]:
    """The content of a sealed file, piece by piece; SealedError as soon as anything is wrong.

    What was given out before an error is right but not whole: use nothing of it before the last piece came.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    line = file.readline(LONGEST_HEAD)
    cipher = AESGCM(lock.key(_head(line, lock)))
    number, piece = 0, file.read(PIECE + TAG)
    while True:
        following = file.read(PIECE + TAG)
        try:
            yield cipher.decrypt(_nonce(number, last=not following), piece, line)
        except InvalidTag:
            raise _refusal(number) from None
        if not following:
            return
        number, piece = number + 1, following


def _refusal(number: int) -> SealedError:
    if number == 0:
        return SealedError(
            "The key or passphrase is wrong, or the file was changed: its first chunk cannot be decrypted."
        )
    return SealedError(f"The file was changed or truncated: chunk {number + 1} cannot be decrypted. Use another copy.")


def _head(line: bytes, lock: Lock) -> dict[str, Any]:
    try:
        head = json.loads(line)
        if head["format"] != FORMAT:
            raise SealedError(f"The file does not have the format {FORMAT}: update Basanite, or give another file.")
        wanted = {"kdf": "scrypt", "n": head.get("n")} if lock.passphrase else {"kdf": "hkdf"}
        known = head == {"format": FORMAT, "salt": bytes.fromhex(head["salt"]).hex()} | wanted
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SealedError("This is not a sealed file, or its beginning was changed.") from error
    if not known or not _affordable(head):
        way = "a passphrase" if head.get("kdf") == "scrypt" else "a key file"
        raise SealedError(f"The file was sealed with {way}, or its beginning was changed.")
    return dict(head)


def _affordable(head: dict[str, Any]) -> bool:
    cost = head.get("n", 2)
    return type(cost) is int and 2 <= cost <= MOST_COST and cost & (cost - 1) == 0


def _derive_key(secret: bytes, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), KEY_BYTES, salt, FORMAT.encode()).derive(secret)


def _nonce(number: int, *, last: bool) -> bytes:
    return bytes([int(last)]) + number.to_bytes(11, "big")


def _pieces(content: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The same bytes in pieces of one size, the last marked; no content at all is one empty piece."""
    waiting = bytearray()
    for part in content:
        waiting += part
        while len(waiting) > PIECE:
            yield bytes(waiting[:PIECE]), False
            del waiting[:PIECE]
    yield bytes(waiting), True
