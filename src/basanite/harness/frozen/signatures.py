"""Signing keys, signed results of a team, and the check that a returned result is the one that was asked for."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.canonical import canonical_text
from basanite.errors import BasaniteError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.exchange import read_array
from basanite.harness.results import ResultFolder, run_name, target_file, write_json
from basanite.harness.steps.classification import Measure

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
    def generate(cls, dice: Callable[[int], bytes] = os.urandom) -> SigningKey:
        """A new one."""
        return cls(dice(BYTES))

    @property
    def name(self) -> str:
        """What the key is called where it is used; tells nothing about the secret."""
        return hashlib.sha256(b"basanite key name\0" + self.secret).hexdigest()[:16]

    def signature(self, said: Mapping[str, Any]) -> str:
        """The signature of some plain data."""
        return f"hmac-sha256:{hmac.new(self.secret, canonical_text(said).encode(), hashlib.sha256).hexdigest()}"

    def verify(self, said: Mapping[str, Any], signature: Any) -> bool:
        """Whether the signature is this key's for these data."""
        return isinstance(signature, str) and hmac.compare_digest(signature.encode(), self.signature(said).encode())


def digest(said: Mapping[str, Any]) -> str:
    """The hash of plain data.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return f"sha256:{hashlib.sha256(canonical_text(said).encode()).hexdigest()}"


def write_key(path: Path, key: SigningKey) -> None:
    """Write a new key that only its owner can read; an old one is never replaced."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadKeyError(f"{path} already exists, and a key is never replaced. Choose another name.") from None
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


SIGNATURE_FORMAT: Final = "basanite-signature/1"
NAME: Final = "signature.json"
UNSIGNED: Final = ("steps", "logs", NAME, "times.jsonl", "steps.json")
"""Work in progress, programs' output and times: nothing that a result rests on."""
LARGEST_SIGNATURE: Final = 64 * 2**20


def sign(folder: Path, key: SigningKey) -> dict[str, Any]:
    """Sign a result folder; gives what was signed."""
    manifest = ResultFolder(folder).manifest
    said = {
        "format": SIGNATURE_FORMAT,
        "key": key.name,
        "plan_digest": manifest["plan_digest"],
        "files": dict(files(folder)),
    }
    signed = {**said, "signature": key.signature(said)}
    write_json(folder / NAME, signed)
    return signed


def signature_faults(folder: Path, key: SigningKey) -> list[str]:
    """What is wrong with a folder's signature: nothing if every file is as it was signed, and none was added."""
    try:
        told = json.loads(read_bounded(folder / NAME, LARGEST_SIGNATURE))
        said = {name: value for name, value in told.items() if name != "signature"}
    except (UnreadableError, ValueError, AttributeError, RecursionError):
        return ["it is not signed"]
    if told.get("format") != SIGNATURE_FORMAT or not isinstance(told.get("files"), dict):
        return [f"its signature is not of format {SIGNATURE_FORMAT!r}"]
    if not key.verify(said, told.get("signature")):
        return ["its signature is not by this key, or was changed"]
    return _file_faults(told["files"], dict(files(folder)))


def _file_faults(signed: dict[str, str], found: dict[str, str]) -> list[str]:
    wrong = [
        f"{name} was changed after signing"
        for name in sorted(signed.keys() & found.keys())
        if signed[name] != found[name]
    ]
    wrong += [f"{name} is missing" for name in sorted(signed.keys() - found.keys())]
    return wrong + [f"{name} was added after signing" for name in sorted(found.keys() - signed.keys())]


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file with its hash, in order; a link counts by where it leads and is never followed."""
    for root, folders, names in os.walk(folder):
        place = Path(root).relative_to(folder)
        folders[:] = sorted(name for name in folders if (place / name).as_posix() not in UNSIGNED)
        for name in sorted(names):
            inside = (place / name).as_posix()
            if inside not in UNSIGNED:
                yield inside, _hash(Path(root) / name)


def _hash(path: Path) -> str:
    if path.is_symlink():
        return f"link:{path.readlink()}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return f"sha256:{digest.hexdigest()}"


TOLERANCE: Final = 1e-9


def faults(folder: Path, key: SigningKey | None = None, evaluation: Evaluation | None = None) -> list[str]:
    """Everything that speaks against a result folder; nothing if it can be accepted."""
    wrong = signature_faults(folder, key) if key else []
    try:
        result = ResultFolder(folder)
        wrong += list(_manifest_faults(result, evaluation))
        wrong += list(_prediction_faults(result))
    except (BasaniteError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        wrong.append(f"it cannot be read: {error}")
    return wrong


def _manifest_faults(result: ResultFolder, evaluation: Evaluation | None) -> Iterator[str]:
    manifest = result.manifest
    said = json.dumps(manifest["plan"], sort_keys=True, ensure_ascii=False, allow_nan=False)
    if manifest["plan_digest"] != f"sha256:{hashlib.sha256(said.encode()).hexdigest()}":
        yield "its plan is not the one whose digest it names"
    if evaluation is None:
        return
    plan = evaluation.plan.canonical()
    for name in ("tasks", "replications", "claims", "name"):
        if manifest["plan"].get(name) != json.loads(json.dumps(plan[name])):
            yield f"its plan has other {name} than yours"
    if manifest["partitions"] != evaluation.shown_digests():
        yield "it was run on other partitions"
    mine = {f"{team['letter']}": team for team in plan["teams"]}
    for team in manifest["plan"]["teams"]:
        if json.loads(json.dumps(mine.get(team["letter"]))) != team:
            yield f"its team {team['letter']} has another system than in your plan"


def _prediction_faults(result: ResultFolder) -> Iterator[str]:
    """Predictions of every run that ended well: whole, finite, and giving the scores that the folder states."""
    told = {(s.task, s.run, s.replication, s.target, s.fold): s.value for s in result.scores()}
    for status in result.status():
        for target in result.targets(status.task) if status.state == "done" else ():
            place = Path(status.task, run_name(status.run, status.replication), target_file(target, "npy"))
            found = read_array(_inside(result.path, Path("predictions") / place), str(place))
            rows, folds = len(result.split(status.task, target).test), result.task(status.task)["folds"]
            if found.shape != (folds, rows) or not np.isfinite(found).all():
                yield f"predictions {place} are not {folds} x {rows} finite numbers"
                continue
            yield from _score_faults(result, status, target, found, told)


def _score_faults(result: ResultFolder, status: Any, target: str, found: Any, told: Any) -> Iterator[str]:
    path = Path("truth") / status.task / target_file(target, "npy")
    if not (result.path / path).is_file():
        return
    truth = read_array(_inside(result.path, path), str(path))
    task = result.task(status.task)
    measure = Measure(task["metric"], tuple(task["range"]) if task["range"] else None)
    for fold, scores in enumerate(found, start=1):
        name = (status.task, status.run, status.replication, target, fold)
        made, said = measure.value(truth, scores), told.get(name)
        if (made is None) != (said is None) or (made is not None and said is not None and abs(made - said) > TOLERANCE):
            yield f"the score of run {status.run}, {target}, fold {fold} is {said} and its predictions give {made}"


def _inside(folder: Path, path: Path) -> Path:
    """A file of the folder, with no link on the way."""
    place = folder
    for part in path.parts:
        place = place / part
        if place.is_symlink():
            raise ValueError(f"{path} is a link")
    return place
