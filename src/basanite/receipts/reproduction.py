"""Making a signed score again from an exported bundle, with the same code that made it, and comparing the two (M80).

A bundle is a folder: `bundle.json`, the submission's archive, the files of the reference. Values agree if they differ
by at most one unit in the tenth significant digit: matrix products end differently on different processors (S-6).

What is sealed is committed to by an HMAC under a random 256-bit nonce that is published at release (X-1). A plain hash
of a key of Y and N confirms guesses: anyone who tries all answers of a short key, or changes the few doubtful ones of a
long one, sees when the hash agrees. Without the nonce nothing can be tried.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from basanite.analysis.results import score_object
from basanite.errors import BasaniteError
from basanite.formats.bounded import check_regular, read_bounded
from basanite.problems import Problem, visible
from basanite.scoring import Scorer
from basanite.tasks import Inputs

NONCE_BYTES = 32
FORMAT = "basanite-bundle/1"
LARGEST_NOTE = 2**20
DIGITS = 10
ROLES = ("reference", "metadata")
SINGLE = ("documents", "queries", "judgements", "human")
COARSE = {"limited": 0.0011, "ladder": 0.0011}
"""What feedback levels round values to; they are compared that coarsely."""


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


class BundleError(BasaniteError):
    """A folder is no bundle, or lacks something that its note names."""


@dataclass(frozen=True)
class Bundle:
    """What a result was made from."""

    folder: Path
    note: Mapping[str, Any]

    def path(self, name: Any) -> Path:
        """A file of the bundle; nothing outside of its folder is ever read."""
        if not isinstance(name, str) or not name or "/" in name or "\\" in name or name.startswith("."):
            raise BundleError(f"The bundle names a file {visible(str(name))[:80]!r}. Names of files have no path.")
        check_regular(self.folder / name)
        return self.folder / name


@dataclass(frozen=True)
class Reproduction:
    """What came of making a score again."""

    compared: int
    """How many values were compared."""
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()


def open_bundle(folder: Path) -> Bundle:
    """The bundle in a folder."""
    try:
        note = json.loads(read_bounded(folder / "bundle.json", LARGEST_NOTE))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{folder / 'bundle.json'} is not JSON: {error}. Export the bundle again.") from error
    if not isinstance(note, dict) or note.get("format") != FORMAT or not isinstance(note.get("files"), dict):
        raise BundleError(f"{folder} is not a bundle of the format {FORMAT}. Export it again.")
    return Bundle(folder, note)


def reproduce(content: Mapping[str, Any], bundle: Bundle) -> Reproduction:
    """Score the bundle's submission again and hold it against what a verified receipt says."""
    signed = content.get("result")
    if not isinstance(signed, dict):
        note = "This is a receipt of intake: it says nothing about a score."
        return Reproduction(0, tuple(_wrong_files(content, bundle)), (note,))
    made = score_again(bundle)
    compared, problems = compare(signed, made)
    note = f"Values are compared to one unit in digit {DIGITS}; processors differ beyond that."
    return Reproduction(compared, (*_wrong_files(content, bundle), *problems), (note,))


def score_again(bundle: Bundle) -> dict[str, Any]:
    """The `score --json` object of a bundle, made now."""
    note, files = bundle.note, bundle.note["files"]
    several = {role: tuple(bundle.path(name) for name in files.get(role) or ()) for role in ROLES}
    single = {role: bundle.path(files[role]) if files.get(role) else None for role in SINGLE}
    inputs = Inputs(
        bundle.path(files.get("submission")),
        documents=single["documents"],
        queries=single["queries"],
        metadata=several["metadata"],
        judgements=single["judgements"],
        human=single["human"],
    ).against(several["reference"])
    scorer = Scorer(
        str(note["task"]), dict(note.get("settings", {})), draws=note.get("draws"), seed=note.get("seed") or 0
    )
    return score_object(scorer.analysis(inputs))


def compare(signed: Mapping[str, Any], made: Mapping[str, Any]) -> tuple[int, tuple[Problem, ...]]:
    """How many of the signed values were made again, and every one that was not."""
    coarse = COARSE.get(str(signed.get("level")), 0.0)
    found = made["values"]
    problems = []
    values = {name: entry for name, entry in dict(signed.get("values") or {}).items() if isinstance(entry, dict)}
    for name, entry in values.items():
        again = found.get(name, {}).get("value")
        if not close(entry.get("value"), again, coarse):
            message = f"{visible(name)} is {entry.get('value')} in the receipt and {again} when made again"
            problems.append(_problem(message, "see whether it was made with the same version: the receipt names it"))
    return len(values), tuple(problems)


def close(first: float | None, second: float | None, coarse: float = 0.0) -> bool:
    """Whether two values are equal but for one unit in the tenth significant digit, or for coarse rounding.

    >>> close(0.1234567890, 0.1234567891), close(0.1234567890, 0.1234567892), close(None, None), close(None, 0.0)
    (True, False, True, False)
    """
    if first is None or second is None:
        return first is second
    largest = max(abs(first), abs(second))
    unit = 10.0 ** (math.floor(math.log10(largest)) - DIGITS + 1) if largest else 0.0
    return abs(first - second) <= max(1.5 * unit, coarse)  # half a unit more: the difference itself is rounded


def check_submission(content: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Whether a file is the one that a verified receipt was given for."""
    check_regular(path)
    digest = _sha256(path)
    if digest != dict(content.get("submission", {})).get("sha256"):
        yield _problem(f"{path.name} is not the file that was submitted (its sha256 is {digest})", "give that file")


def _wrong_files(content: Mapping[str, Any], bundle: Bundle) -> Iterator[Problem]:
    files = bundle.note["files"]
    yield from check_submission(content, bundle.path(files.get("submission")))
    reference = dict(dict(content.get("result") or {}).get("reference") or {})
    nonce = bundle.note.get("nonce")
    if (
        nonce
        and reference.get("commitment")
        and not _opens_commitment(bundle, str(nonce), str(reference["commitment"]))
    ):
        yield _problem("the reference is not the one that the receipt commits to (X-1)", "ask for the right bundle")


def _opens_commitment(bundle: Bundle, nonce: str, commitment: str) -> bool:
    files = dict(bundle.note.get("committed") or {})
    stated = {str(digest) for value in files.values() for digest in (value if isinstance(value, list) else [value])}
    present = {_sha256(bundle.path(name)) for role in (*ROLES, *SINGLE) for name in _names(bundle, role)}
    try:
        return present <= stated and opens(commitment, bytes.fromhex(nonce), reference_content(files))
    except ValueError:
        return False


def _names(bundle: Bundle, role: str) -> list[str]:
    value = bundle.note["files"].get(role) or []
    return value if isinstance(value, list) else [value]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _problem(message: str, fix: str) -> Problem:
    return Problem("M80", "bundle", None, None, message, fix)
