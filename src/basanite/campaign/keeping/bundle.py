"""A bundle of one submission: its archive, the reference and the settings, from which the score can be made again.

Given out only where the reference has been released, or to the evaluation team: the keys of sealed sets never leave
the server (M71).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from basanite.campaign.jobs.material import Material, material, shared
from basanite.campaign.jobs.running import Given
from basanite.campaign.keeping.backup import BackupError
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Office
from basanite.campaign.organising.references import NONCES
from basanite.campaign.results.adopted import adopted
from basanite.campaign.score_receipts import score_receipts
from basanite.campaign.store.tables import Receipt, Result, Submission
from basanite.receipts.reproducing import FORMAT, ROLES, SINGLE


def write_bundle(session: Session, office: Office, submission_id: str, out: Path, *, staff: bool = False) -> Path:
    """Write the bundle of the result that holds into a new folder."""
    submission = session.get(Submission, submission_id)
    if submission is None:
        raise missing("submission")
    if out.exists():
        raise BackupError(f"{out} is there already. Choose another name: nothing is written over.")
    result = adopted(session, [submission_id]).get(submission_id)
    if result is None:
        raise refused("M80", "this submission has no result", "wait until it is scored", status=404)
    newest = result.plan_version != submission.plan_version
    made = material(session, office, submission, reference_id=result.reference_id, newest=newest)
    is_open = made.reference.released is not None or not made.reference.sealed
    if not (is_open or staff):
        raise refused("M71", "the reference of this result is sealed", "wait until it is released", status=403)
    out.mkdir(parents=True)
    files = _copied(office, submission, made, out)
    (out / "bundle.json").write_text(json.dumps(_note(office, made, files, is_open=is_open), indent=1, sort_keys=True))
    for receipt in _receipts(session, submission_id, result):
        (out / f"{receipt.kind}.receipt.json").write_bytes(receipt.content)
    return out


def _note(office: Office, made: Material, files: Mapping[str, Any], *, is_open: bool) -> dict[str, Any]:
    reference = made.reference
    return {
        "committed": {role: value for role, value in reference.files.items() if role != "names"},
        "draws": made.draws,
        "files": files,
        "format": FORMAT,
        "nonce": office.vault.secret(NONCES, reference.id).hex() if is_open else None,
        "seed": made.seed,
        "settings": dict(made.settings),
        "software": made.software,
        "task": made.task,
    }


def _copied(office: Office, submission: Submission, made: Material, out: Path) -> dict[str, Any]:
    """Copy all files into the folder, each under a name of its own."""
    order = shared(office, made)
    office.files.copy(submission.sha256, out / f"submission{_ending(submission.name)}")
    files: dict[str, Any] = {"submission": f"submission{_ending(submission.name)}"}
    for role in ROLES:
        files[role] = [_copy(given, role, number, out) for number, given in enumerate(order[role], 1)]
    for role in SINGLE:
        files[role] = _copy(order[role], role, 1, out) if order[role] else None
    return files


def _copy(given: Given, role: str, number: int, out: Path) -> str:
    name = f"{role}-{number}{_ending(given.name)}"
    if given.store is None:
        shutil.copyfile(given.path, out / name)
    else:
        given.store.copy(given.store.digest_at(given.path), out / name)
    return name


def _ending(name: str) -> str:
    """What tells the format; never the rest of a name, which may name its team (P-25)."""
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".tar.gz") else Path(name).suffix


def _receipts(session: Session, submission_id: str, result: Result) -> list[Receipt]:
    return [receipt for receipt in score_receipts(session, submission_id) if receipt.result_key == result.key]
