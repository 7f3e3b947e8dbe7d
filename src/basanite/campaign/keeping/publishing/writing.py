"""Writing the site: whole or not at all, into a new folder, with a list of every file and its digest."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from basanite.campaign.keeping.backup import BackupError
from basanite.campaign.keeping.publishing import pages
from basanite.campaign.keeping.publishing.gathering import Gathered, OpenReference, gather
from basanite.campaign.keeping.publishing.records import CRATE, Work, bibtex, citation, crate, datacite
from basanite.campaign.keeping.publishing.runs import publish_run
from basanite.campaign.keeping.publishing.tables import as_csv, as_latex, board_table
from basanite.campaign.office import Office

FOLDERS = ("boards", "systems", "tables", "results", "receipts", "runs", "references")


@dataclass(frozen=True)
class Site:
    """What was published."""

    boards: int
    systems: int
    runs: int
    references: int
    deviations: int
    files: int
    left_out: tuple[str, ...] = ()
    """Systems whose run is not published because it names its maker, or is not there."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return vars(self) | {"left_out": list(self.left_out)}


@dataclass(frozen=True)
class Wishes:
    """What the organiser says about the publication."""

    organiser: str = ""
    licence: str = ""
    address: str = ""
    runs: bool = True


def publish(office: Office, slug: str, out: Path, wishes: Wishes | None = None) -> Site:
    """Make the static site of what a campaign has released to everybody."""
    if out.exists():
        raise BackupError(f"{out} is there already. Choose another name: nothing is written over.")
    with office.writing() as session:  # receipts of what is public are made if there are none yet
        gathered = gather(session, office, slug)
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    fresh.mkdir()
    try:
        site = _Writer(office, gathered, wishes or Wishes(), fresh).all()
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return site


class _Writer:
    def __init__(self, office: Office, gathered: Gathered, wishes: Wishes, folder: Path) -> None:
        self.office, self.gathered, self.wishes, self.folder = office, gathered, wishes, folder
        campaign = gathered.campaign
        organiser = wishes.organiser or f"The organisers of {campaign.title}"
        self.work = Work(
            campaign.slug,
            campaign.title,
            campaign.plan_version,
            organiser,
            gathered.at.date(),
            wishes.licence,
            wishes.address,
        )

    def all(self) -> Site:
        """Write every file, the list of all files last."""
        for name in FOLDERS:
            (self.folder / name).mkdir()
        runs = self._runs() if self.wishes.runs else {}
        self._boards()
        self._systems(runs)
        for reference in self.gathered.references:
            self._reference(reference)
        self._rest(runs)
        self._records()
        shown, missing = self.gathered.systems, self.wishes.runs
        left_out = tuple(one.slug for one in shown if missing and one.slug not in runs)
        files = sum(path.is_file() for path in self.folder.rglob("*"))
        counts = (len(self.gathered.boards), len(shown), len(runs), len(self.gathered.references))
        return Site(*counts, len(self.gathered.departures), files, left_out)

    def _runs(self) -> dict[str, str]:
        folder, files = self.folder / "runs", self.office.files
        made = {one.slug: publish_run(one, files.local(one.sha256), folder) for one in self.gathered.systems}
        return {slug: name for slug, name in made.items() if name is not None}

    def _boards(self) -> None:
        for page in self.gathered.boards:
            self._write(f"boards/{page.slug}.html", pages.board_page(self.gathered, self.work, page))
            table = board_table(page.board, page.title)
            self._write(f"tables/{page.slug}.csv", as_csv(table))
            self._write(f"tables/{page.slug}.tex", as_latex(table, page.title))

    def _systems(self, runs: dict[str, str]) -> None:
        for system in self.gathered.systems:
            page = pages.system_page(self.gathered, self.work, system, runs.get(system.slug))
            self._write(f"systems/{system.slug}.html", page)
            data = system.unnamed.cleaned(dict(system.result.data))
            self._write(f"results/{system.slug}.json", _json(data))
            for kind, content in system.receipts.items():
                (self.folder / "receipts" / f"{system.slug}.{kind}.json").write_bytes(content)

    def _reference(self, reference: OpenReference) -> None:
        folder = self.folder / "references" / reference.slug
        folder.mkdir()
        files: dict[str, Any] = {}
        for role, value in reference.files.items():
            if role != "names" and value:
                digests = value if isinstance(value, list) else [value]
                files[role] = [
                    self._copied(folder, reference, role, number, digest) for number, digest in enumerate(digests, 1)
                ]
        committed = {role: value for role, value in reference.files.items() if role != "names"}
        note = {"commitment": reference.commitment, "committed": committed, "files": files, "nonce": reference.nonce}
        (folder / "reference.json").write_text(_json(note), encoding="utf-8")

    def _copied(self, folder: Path, reference: OpenReference, role: str, number: int, digest: str) -> str:
        given = str(reference.files.get("names", {}).get(digest, ""))
        name = f"{role}-{number}{Path(given).suffix or '.tgz'}"
        self.office.sealed.copy(digest, folder / name)
        return name

    def _rest(self, runs: dict[str, str]) -> None:
        self._write("index.html", pages.index_page(self.gathered, self.work, runs))
        self._write("plan.html", pages.plan_page(self.gathered, self.work))
        self._write("campaign.toml", self.gathered.plan_text)
        (self.folder / "keys.json").write_bytes(self.gathered.keys.as_bytes())

    def _records(self) -> None:
        self._write("CITATION.cff", citation(self.work))
        self._write("citation.bib", bibtex(self.work))
        self._write("datacite.json", datacite(self.work))
        listed = [path for path in self.folder.rglob("*") if path.is_file()]
        files = [(path.relative_to(self.folder).as_posix(), path.stat().st_size, _sha256(path)) for path in listed]
        self._write(CRATE, crate(self.work, files))

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8", newline="")


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
