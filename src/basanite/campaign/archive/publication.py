"""Writing the site: whole or not at all, into a new folder, with a list of every file and its digest."""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import json
import secrets
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from basanite import __version__
from basanite.campaign.archive.backup import BackupError
from basanite.campaign.archive.campaign_report import as_csv, as_latex, board_table
from basanite.campaign.archive.public_record import BoardPage, Gathered, OpenReference, System, gather
from basanite.campaign.office import Office
from basanite.figures import Table
from basanite.formats.archives.archive import Source, open_source
from basanite.formats.archives.members import Member
from basanite.problems import Findings
from basanite.reports import theme
from basanite.reports.metric_names import display_name
from basanite.reports.outputs.html import Strip, asset, environment, favicon, strip
from basanite.reports.outputs.latex import escape_latex
from basanite.reports.report import Headline
from basanite.reports.wording import printable

CRATE = "ro-crate-metadata.json"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "https://w3id.org/ro/crate/1.1"
TYPES = {
    ".bib": "application/x-bibtex",
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".tgz": "application/gzip",
    ".toml": "application/toml",
}


@dataclass(frozen=True)
class Work:
    """What is published, by whom, when."""

    slug: str
    title: str
    version: str
    organiser: str
    on: date
    licence: str = ""
    address: str = ""

    @property
    def summary(self) -> str:
        """One sentence about it."""
        return f"Released results, runs, receipts and plan of the evaluation campaign “{self.title}”."


def citation(work: Work) -> str:
    """CITATION.cff; texts are written as JSON strings, which YAML reads as they are."""
    lines = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them.",
        "title": work.title,
        "type": "dataset",
        "version": work.version,
        "date-released": work.on.isoformat(),
        **({"license": work.licence} if work.licence else {}),
        **({"url": work.address} if work.address else {}),
    }
    text = "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in lines.items())
    return f"{text}authors:\n  - name: {json.dumps(work.organiser, ensure_ascii=False)}\n"


def bibtex(work: Work) -> str:
    """The entry for a paper's list of references."""
    fields = {
        "author": f"{{{escape_latex(work.organiser)}}}",
        "title": f"{{{escape_latex(work.title)}}}",
        "year": str(work.on.year),
        "version": escape_latex(work.version),
        "note": "Evaluation campaign: results, runs and receipts",
        **({"url": escape_latex(work.address)} if work.address else {}),
    }
    inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{work.slug.replace('_', '-')}-{work.on.year},\n{inside}\n}}\n"


def datacite(work: Work) -> str:
    """The attributes with which a DOI is registered (DataCite 4)."""
    content = {
        "creators": [{"name": work.organiser, "nameType": "Organizational"}],
        "dates": [{"date": work.on.isoformat(), "dateType": "Issued"}],
        "descriptions": [{"description": work.summary, "descriptionType": "Abstract"}],
        "publicationYear": work.on.year,
        "publisher": {"name": work.organiser},
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "subjects": [{"subject": "evaluation of AI systems"}],
        "titles": [{"title": work.title}],
        "types": {"resourceType": "Evaluation results", "resourceTypeGeneral": "Dataset"},
        "version": work.version,
        **({"rightsList": [{"rights": work.licence}]} if work.licence else {}),
        **({"url": work.address} if work.address else {}),
    }
    return _json(content)


def crate(work: Work, files: Iterable[tuple[str, int, str]]) -> str:
    """RO-Crate 1.1: the site as a data set, with every file, its size and its sha256."""
    parts = [_file(path, size, digest) for path, size, digest in sorted(files)]
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "author": {"@id": "#organiser"},
        "datePublished": work.on.isoformat(),
        "description": work.summary,
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "license": work.licence or "No license is given.",
        "name": work.title,
        "version": work.version,
    }
    about = {"@id": CRATE, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": PROFILE}}
    organiser = {"@id": "#organiser", "@type": "Organization", "name": work.organiser}
    tool = {"@id": "#basanite", "@type": "SoftwareApplication", "name": "Basanite", "version": __version__}
    return _json({"@context": CONTEXT, "@graph": [about, root, organiser, tool, *parts]})


def _file(path: str, size: int, digest: str) -> dict[str, Any]:
    kind = next((kind for ending, kind in TYPES.items() if path.endswith(ending)), "application/octet-stream")
    return {"@id": path, "@type": "File", "contentSize": str(size), "encodingFormat": kind, "sha256": digest}


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"


def plan_page(gathered: Gathered, work: Work) -> str:
    """The plan as it stands, its calendar, and every deviation from what was frozen (P-28)."""
    return _page("plan.html", gathered, work, up="")


def board_page(gathered: Gathered, work: Work, page: BoardPage) -> str:
    """One board: values with intervals, groups and ranks, and who is left out."""
    table = board_table(page.board, page.title)
    links = {system.name: f"../systems/{system.slug}.html" for system in page.systems}
    return _page("board.html", gathered, work, up="../", page=page, table=table, strip=_strip(page), links=links)


def system_page(gathered: Gathered, work: Work, system: System, run: str | None) -> str:
    """One system: its description form, its values and breakdowns, its receipts."""
    values, task = system.result.data.get("values", {}), str(system.result.data.get("task", ""))
    return _page(
        "system.html",
        gathered,
        work,
        up="../",
        system=system,
        run=run,
        values=_values(values, task),
        breakdowns=[_breakdown(name, levels, task) for name, levels in _levels(system)],
        window=gathered.campaign.window(system.window),
    )


def _page(name: str, gathered: Gathered, work: Work, *, up: str, **more: Any) -> str:
    page = _environment().get_template(f"site/{name}")
    text = page.render(gathered=gathered, work=work, campaign=gathered.campaign, up=up, **_shared_values(), **more)
    return text.rstrip() + "\n"


@functools.cache
def _environment() -> Environment:
    own = PackageLoader("basanite.campaign.archive")
    made = environment().overlay(loader=ChoiceLoader([own, PackageLoader("basanite.reports")]))
    made.filters |= {
        "metric_name": display_name,
        "lines": _lines,
        "words": _words,
        "moment": lambda at: f"{at:%Y-%m-%d %H:%M} UTC",
    }
    return made


@functools.cache
def _shared_values() -> dict[str, Any]:
    own = resources.files("basanite.campaign.archive").joinpath("templates", "site", "site.css")
    style = Markup("\n".join((theme.css(), asset("report.css"), own.read_text(encoding="utf-8"))))
    return {"favicon": favicon(), "policy": POLICY, "style": style, "version": __version__}


def _strip(page: BoardPage) -> Strip | None:
    rows = [row for row in page.board.rows if row.value is not None]
    name = display_name(page.board.metric, page.board.task)
    lines = [
        Headline(row.name, name, float(row.value or 0.0), row.low, row.high, 0, "", 0.95, group=row.group)
        for row in rows
    ]
    return strip(lines) if lines else None


def _values(values: Mapping[str, Any], task: str) -> Table:
    rows = [
        (display_name(name, task), entry.get("value"), entry.get("low"), entry.get("high"), entry.get("units"))
        for name, entry in values.items()
    ]
    return Table("Values", ("Measure", "Value", "Low", "High", "Units"), rows)


def _levels(system: System) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(system.result.data.get("breakdowns", {}).items())


def _breakdown(name: str, levels: Mapping[str, Any], task: str) -> Table:
    measures = sorted({measure for values in levels.values() for measure in values})
    rows = [
        (level, *(values.get(measure, {}).get("value") for measure in measures))
        for level, values in sorted(levels.items())
    ]
    return Table(f"By {name}", (name, *(display_name(measure, task) for measure in measures)), rows)


def _words(value: Any) -> str:
    """A field of a description as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lines(text: str) -> Markup:
    """Text of several lines, in each of which nothing can hide or act (X-14)."""
    return Markup("\n").join(map(printable, text.splitlines()))


def publish_run(system: System, stored: Path, folder: Path) -> str | None:
    """Write the archive of a system into a folder; gives its name there, or None if it would name its maker.

    A team that is named gets its file as it came, which its receipt names. Any other is packed again: the names and
    owners in an archive's heads and the name in gzip's own are gone, the files and their digest are the same.
    """
    if not stored.is_file():
        return None
    name = f"{system.slug}{_ending(system.archive)}"
    if system.named and not system.unnamed.names:
        shutil.copyfile(stored, folder / name)
        return name
    source = open_source(stored, depth=2)
    members = list(source.members(Findings(), hashed=False))
    if not source.complete or any(_names(system, member) for member in members):
        return None
    _pack(source, members, stored, folder / name)
    return name


def _names(system: System, member: Member) -> bool:
    return system.unnamed.hides(member.name) or system.unnamed.hides(member.data.decode("utf-8", "replace"))


def _pack(source: Source, members: list[Member], stored: Path, out: Path) -> None:
    if source.kind != "archive":
        shutil.copyfile(stored, out)
        return
    with (
        out.open("xb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for member in sorted(members, key=lambda one: one.name):
            head = tarfile.TarInfo(member.name)
            head.size, head.mode = len(member.data), 0o644
            tar.addfile(head, io.BytesIO(member.data))


def _ending(name: str) -> str:
    return ".tgz" if name.endswith((".tgz", ".tar.gz")) else Path(name).suffix


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
        raise BackupError(f"{out} already exists. Choose another name: files are never overwritten.")
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
        organiser = wishes.organiser or f"The organizers of {campaign.title}"
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
        open_ones = [one for one in self.gathered.systems if one.sha256]
        made = {one.slug: publish_run(one, files.local(one.sha256), folder) for one in open_ones}
        return {slug: name for slug, name in made.items() if name is not None}

    def _boards(self) -> None:
        for page in self.gathered.boards:
            self._write(f"boards/{page.slug}.html", board_page(self.gathered, self.work, page))
            table = board_table(page.board, page.title)
            self._write(f"tables/{page.slug}.csv", as_csv(board_table(page.board, page.title, keys=True)))
            self._write(f"tables/{page.slug}.tex", as_latex(table, page.title))

    def _systems(self, runs: dict[str, str]) -> None:
        for system in self.gathered.systems:
            page = system_page(self.gathered, self.work, system, runs.get(system.slug))
            self._write(f"systems/{system.slug}.html", page)
            data = system.unnamed.without_names(dict(system.result.data))
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
                    self._copy_given(folder, reference, role, number, digest)
                    for number, digest in enumerate(digests, 1)
                ]
        committed = {role: value for role, value in reference.files.items() if role != "names"}
        note = {"commitment": reference.commitment, "committed": committed, "files": files, "nonce": reference.nonce}
        (folder / "reference.json").write_text(_json(note), encoding="utf-8")

    def _copy_given(self, folder: Path, reference: OpenReference, role: str, number: int, digest: str) -> str:
        given = str(reference.files.get("names", {}).get(digest, ""))
        name = f"{role}-{number}{Path(given).suffix or '.tgz'}"
        self.office.sealed.copy(digest, folder / name)
        return name

    def _rest(self, runs: dict[str, str]) -> None:
        self._write("index.html", _page("index.html", self.gathered, self.work, up="", runs=runs))
        self._write("plan.html", plan_page(self.gathered, self.work))
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
