"""A whole campaign as a folder: rows, files, receipts with the public keys, and its part of the event log.

It is for organisers, who see everything in it. References that are still sealed come along only if asked for; keys of
any kind never do, but the nonces of what has been released are public by then (X-1, X-15).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.keeping.backup import BackupError, snapshot
from basanite.campaign.keeping.carried import CARRIED, FORMAT, MANIFEST, rows_of
from basanite.campaign.keeping.content import is_digest, row_digests
from basanite.campaign.keeping.rows import TABLES, lines
from basanite.campaign.office import Office
from basanite.campaign.organising.references import NONCES
from basanite.campaign.receipting import keyring
from basanite.campaign.store.tables import CampaignRow, Event, Reference


@dataclass(frozen=True)
class Exported:
    """What an export holds."""

    campaign: str
    rows: dict[str, int]
    files: int
    references: int
    missing: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "campaign": self.campaign,
            "files": self.files,
            "missing": list(self.missing),
            "references": self.references,
            "rows": {name: count for name, count in self.rows.items() if count},
        }


def export_campaign(office: Office, campaign_id: str, out: Path, *, references: bool = False) -> Exported:
    """Export a campaign to a new folder, or to an archive if the name ends in .tgz."""
    with _fresh(out) as folder, snapshot(office) as connection:
        writer = _Writer(office, connection, campaign_id, folder)
        exported = writer.all(references=references)
        if out.name.endswith(".tgz"):
            _packed(folder)
    return exported


@contextmanager
def _fresh(out: Path) -> Iterator[Path]:
    """A folder that gets its name only when it is whole; for an archive, the archive in it does."""
    if out.exists():
        raise BackupError(f"{out} is there already. Choose another name: nothing is written over.")
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    fresh.mkdir(mode=0o700)
    try:
        yield fresh
        (fresh / ".packed" if out.name.endswith(".tgz") else fresh).rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _packed(folder: Path) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    with tarfile.open(folder / ".packed", "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for name in names:
            tar.add(folder / name, name, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing about the machine or its users."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


class _Writer:
    """An export on its way out."""

    def __init__(self, office: Office, connection: Connection, campaign_id: str, folder: Path) -> None:
        self.office, self.connection, self.campaign_id, self.folder = office, connection, campaign_id, folder
        self.wanted: set[tuple[str, str]] = set()
        self.rows: dict[str, int] = {}

    def all(self, *, references: bool) -> Exported:
        """Write everything, the manifest last."""
        for name in ("rows", "files", "sealed"):
            (self.folder / name).mkdir()
        for table in CARRIED:
            self._table(table)
        with Session(self.connection) as session:
            campaign = session.get_one(CampaignRow, self.campaign_id)
            nonces = self._nonces(session)
            (self.folder / "keys.json").write_bytes(keyring(session).as_bytes())
            self._log(session)
        _write(self.folder / "nonces.json", nonces)
        missing = self._files(nonces, references=references)
        counts = {store: len(list((self.folder / store).iterdir())) for store in ("files", "sealed")}
        exported = Exported(campaign.slug, self.rows, counts["files"], counts["sealed"], missing)
        _write(self.folder / MANIFEST, self._manifest(campaign, exported))
        return exported

    def _manifest(self, campaign: CampaignRow, exported: Exported) -> dict[str, Any]:
        texts = [path for path in sorted(self.folder.rglob("*.json*")) if path.is_file()]
        digests = {path.relative_to(self.folder).as_posix(): _sha256(path) for path in texts}
        return exported.as_dict() | {
            "digests": digests,
            "format": FORMAT,
            "id": campaign.id,
            "made": self.office.clock().isoformat(),
            "origin": self.office.address,
            "software": __version__,
        }

    def _table(self, table: str) -> None:
        self.rows[table] = 0
        with (self.folder / "rows" / f"{table}.jsonl").open("wb") as file:
            for line in lines(self.connection, TABLES[table], rows_of(table, self.campaign_id)):
                file.write(line)
                self.rows[table] += 1
                self.wanted.update(row_digests(table, json.loads(line)))

    def _nonces(self, session: Session) -> dict[str, str]:
        """Nonces of references that were released: what anybody may know by now."""
        question = select(Reference).where(Reference.campaign_id == self.campaign_id)
        out = [row for row in session.scalars(question) if row.released is not None]
        return {row.id: self.office.vault.secret(NONCES, row.id).hex() for row in out}

    def _log(self, session: Session) -> None:
        question = select(TABLES["events"]).where(Event.campaign_id == self.campaign_id)
        with (self.folder / "log.jsonl").open("wb") as file:
            file.writelines(lines(session.connection(), TABLES["events"], question))

    def _files(self, nonces: dict[str, str], *, references: bool) -> tuple[str, ...]:
        with Session(self.connection) as session:
            rows = session.scalars(select(Reference).where(Reference.campaign_id == self.campaign_id)).all()
        open_rows = [row for row in rows if row.id in nonces or not row.sealed]
        unsealed = {digest for row in open_rows for _, digest in row_digests("references", {"files": row.files})}
        missing = []
        for store, digest in sorted(self.wanted):
            if store == "sealed" and not references and digest not in unsealed:
                continue
            source = self.office.sealed if store == "sealed" else self.office.files
            if is_digest(digest) and source.has(digest):
                with (self.folder / store / digest).open("wb") as file:
                    file.writelines(source.pieces(digest))
            else:
                missing.append(digest)
        return tuple(missing)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    with open(os.open(path, os.O_RDONLY), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
