"""A result folder that is signed: the hash of every file in it, under the key of a bundle (H-35)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.harness.frozen.keys import SigningKey
from basanite.harness.results import ResultFolder, write_json

FORMAT: Final = "basanite-signature/1"
NAME: Final = "signature.json"
UNSIGNED: Final = ("steps", "logs", NAME, "times.jsonl", "steps.json")
"""Work in progress, programs' output and times: nothing that a result rests on."""
LARGEST: Final = 64 * 2**20


def sign(folder: Path, key: SigningKey) -> dict[str, Any]:
    """Sign a result folder; gives what was signed."""
    manifest = ResultFolder(folder).manifest
    said = {"format": FORMAT, "key": key.name, "plan_digest": manifest["plan_digest"], "files": dict(files(folder))}
    signed = {**said, "signature": key.signature(said)}
    write_json(folder / NAME, signed)
    return signed


def signature_faults(folder: Path, key: SigningKey) -> list[str]:
    """What is wrong with a folder's signature: nothing if every file is as it was signed, and none was added."""
    try:
        told = json.loads(read_bounded(folder / NAME, LARGEST))
        said = {name: value for name, value in told.items() if name != "signature"}
    except (UnreadableError, ValueError, AttributeError, RecursionError):
        return ["it is not signed"]
    if told.get("format") != FORMAT or not isinstance(told.get("files"), dict):
        return [f"its signature is not of format {FORMAT!r}"]
    if not key.signed(said, told.get("signature")):
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
