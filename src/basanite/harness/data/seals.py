"""Sealed splits: a random seed that nobody can guess, and a commitment that can be checked once it is given out (X-1).

The seal is a secret file with 256 random bits of seed and 256 of nonce. The commitment is public: an HMAC under the
nonce over the seed, the plan and the digests of all partitions. It tells nothing before the nonce is published, since
a plain hash of a split could be confirmed by guessing; afterwards anybody with the data can make it again (H-4).
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
from basanite.harness.protocol import Seeds

FORMAT: Final = "basanite-seal/1"
COMMITMENT: Final = "basanite-commitment/1"
BITS: Final = 256
LARGEST: Final = 2**16
LEAST_DIFFERENT_BYTES: Final = 16
"""32 random bytes practically always have more different ones than this; what somebody typed in mostly has not."""


class SealError(BasaniteError):
    """A seal or commitment cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Seal:
    """The secret of a sealed evaluation, until it is given out."""

    seed: bytes = field(repr=False)
    nonce: bytes = field(repr=False)

    @classmethod
    def generate(cls, dice: Callable[[int], bytes] = os.urandom) -> Seal:
        """A new secret."""
        return cls(dice(BITS // 8), dice(BITS // 8))

    @property
    def seeds(self) -> Seeds:
        """The streams of random numbers that follow from the seed."""
        return Seeds(self.seed)

    def keyed_digest(self, text: str) -> str:
        """An HMAC of a text under the nonce: the only digest of sealed things that outsiders may see."""
        return f"hmac-sha256:{hmac.new(self.nonce, text.encode(), hashlib.sha256).hexdigest()}"

    def commitment(self, plan: str, partitions: Mapping[str, str]) -> dict[str, Any]:
        """What is published at once: it binds seed, plan and partitions and shows none of them."""
        said = json.dumps({"seed": self.seed.hex(), "plan": plan, "partitions": dict(partitions)}, sort_keys=True)
        keyed = {name: self.keyed_digest(f"{name} {digest}") for name, digest in sorted(partitions.items())}
        return {"format": COMMITMENT, "plan": plan, "commitment": self.keyed_digest(said), "partitions": keyed}


def write_seal(path: Path, seal: Seal) -> None:
    """Write a new seal that only its owner can read; an old one is never replaced."""
    text = json.dumps({"format": FORMAT, "seed": seal.seed.hex(), "nonce": seal.nonce.hex()}, indent=1) + "\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SealError(f"{path} already exists. A seal is made once; delete it only if nobody relies on it.") from None
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)


def read_seal(path: Path) -> Seal:
    """The seal in a file; a seed that was plainly typed in is refused."""
    found = _json(path, FORMAT, "seal")
    seal = Seal(_bits(found, "seed", path), _bits(found, "nonce", path))
    if any(len(set(part)) < LEAST_DIFFERENT_BYTES for part in (seal.seed, seal.nonce)):
        raise SealError(f"The seed in {path} is not random, so it seals nothing. Make one: basanite harness seal.")
    return seal


def read_commitment(path: Path) -> dict[str, Any]:
    """The commitment in a file."""
    return _json(path, COMMITMENT, "commitment")


def commitment_faults(seal: Seal, published: Mapping[str, Any], plan: str, partitions: Mapping[str, str]) -> list[str]:
    """What of a published commitment does not hold now that the seal is open; nothing if all of it does."""
    made = seal.commitment(plan, partitions)
    wrong = [] if published.get("plan") == plan else ["the plan differs from the sealed one"]
    before = published.get("partitions")
    told = before if isinstance(before, dict) else {}
    names = sorted({*made["partitions"], *told})
    changed = [name for name in names if told.get(name) != made["partitions"].get(name)]
    wrong += [f"the partition {name} differs from the sealed one" for name in changed]
    if not wrong and not hmac.compare_digest(str(published.get("commitment")), made["commitment"]):
        wrong.append("the seed differs from the sealed one")
    return wrong


def _json(path: Path, wanted: str, kind: str) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(path, LARGEST))
    except (ValueError, RecursionError) as error:
        raise SealError(f"{path} is not a {kind}: {error}. Make one: basanite harness seal PLAN.") from error
    if not isinstance(found, dict) or found.get("format") != wanted:
        raise SealError(f"{path} is not a {kind}: it does not say format {wanted!r}.")
    return found


def _bits(found: Mapping[str, Any], key: str, path: Path) -> bytes:
    try:
        value = bytes.fromhex(str(found.get(key)))
    except ValueError:
        value = b""
    if len(value) * 8 != BITS:
        raise SealError(f"The {key} in {path} is not {BITS} bits in hexadecimal, so it could be guessed.")
    return value
