"""`basanite pack`: make a submission archive with the right name from a folder that has been checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from basanite import canonical
from basanite.cli.options import PATH, Command, as_json, example, parsed_settings, say, show_findings, task_argument
from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import Source, open_source
from basanite.formats.archives.archive_names import TYPES, ArchiveName, check_name, explain, make_name, parse_name
from basanite.formats.archives.output import write_archive
from basanite.formats.retrieval.detection_key import check_alone
from basanite.formats.retrieval.detection_lines import Layout
from basanite.problems import Findings, visible
from basanite.registry import suggestion
from basanite.scoring import Scorer
from basanite.tasks import Inputs

NAMES = {"clir": "CLIR", "e2e": "E2E", "domainid": "DomainID", "langid": "LangID"}
"""What a task is called in the names of archives."""
DEPTH = {"e2e": 2}
"""How deep the files of a task lie; end to end there is one folder for each query (C24)."""
NAME_PARTS = ("team", "type", "period", "language", "dataset")
TIMES = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S")


def name_options(command: Command) -> Command:
    """Add what the parts of a name are given by."""
    for option in (
        click.option("--web", is_flag=True, help="Name the archive by its label alone; the server adds the rest."),
        click.option(
            "--time",
            type=click.DateTime(TIMES),
            metavar="YYYY-MM-DDTHH:MM:SS",
            help="Date and time in the name.  [default: now]",
        ),
        click.option("--dataset", help="DEV, ANALYSIS1, EVAL1, or packs scored together: EVAL1EVAL2."),
        click.option("--language", help="The language's code: 1A, 1B, 1S …"),
        click.option("--period", help="BASE, OP1 …"),
        click.option(
            "--set", "sets", multiple=True, help="QUERY1 …, or GOV and LIF … Can be repeated. Also KEY=VALUE."
        ),
        click.option("--type", type=click.Choice(tuple(TYPES)), help="How the submission counts."),
        click.option("--label", help="Your name for the system: letters and digits."),
        click.option("--team", help="Your team's registered name."),
    ):
        command = option(command)
    return command


@click.command(
    epilog=example(
        "basanite pack clir run --team NIST --label Alpha --type primary --set QUERY1 --period BASE --language 1A "
        "--dataset EVAL1"
    )
)
@task_argument(required=False)
@click.argument("folder", type=PATH, required=False)
@name_options
@click.option("--out", type=PATH, default=Path(), help="The folder to write to.  [default: here]")
@click.option("--reference", type=PATH, help="The key, if you have it.")
@click.option("--documents", type=PATH, help="The pack's list of documents, one per line (without a key).")
@click.option("--queries", type=PATH, help="The pack's list of queries, one per line (without a key).")
@click.option("--explain", "explained", metavar="NAME", help="Explain each part of an archive's name.")
@as_json
def pack(task: str | None, folder: Path | None, explained: str | None, as_json: bool, **given: Any) -> None:
    """Pack the files in FOLDER into a submission archive for TASK, after checking them.

    With a reference, or with the pack's lists of documents and queries, everything is checked; otherwise only
    the files themselves. The same files and time give the same bytes. Existing files are never overwritten.
    """
    if explained is not None:
        return _explain(explained, json=as_json)
    if task is None or folder is None:
        raise click.UsageError("Give a task and a folder, or --explain NAME.")
    if task not in NAMES:
        raise SettingError(f"Archives are made for the tasks {', '.join(NAMES)}. {suggestion(task, tuple(NAMES))}")
    request = Request(task, folder, **given)
    findings = Findings()
    name = request.name(datetime.now(), findings)
    source = request.source()
    files = request.check(source, findings)
    if not findings.valid:
        _show(request, findings, as_json, {"written": None})
        raise click.exceptions.Exit(1)
    digest = source.digest.value()
    write_archive(_members(source, digest), request.out / name, source=source.path)
    written = {"written": str(request.out / name), "digest": digest, "files": files, "checked": request.extent}
    return _show(request, findings, as_json, written)


@dataclass(frozen=True)
class Request:
    """What was asked for: the files, the parts of the name, and what to check against."""

    task: str
    folder: Path
    team: str | None
    label: str | None
    type: str | None
    sets: tuple[str, ...]
    period: str | None
    language: str | None
    dataset: str | None
    time: datetime | None
    web: bool
    out: Path
    reference: Path | None
    documents: Path | None
    queries: Path | None

    @property
    def extent(self) -> str:
        """Whether everything is checked, or only what the files tell by themselves."""
        lists = self.documents is not None and self.queries is not None
        return "all" if lists or self.reference is not None else "alone"

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the task, which `--set` takes as other commands do."""
        return parsed_settings([text for text in self.sets if "=" in text])

    def name(self, now: datetime, findings: Findings) -> str:
        """The archive's name; what is wrong with it becomes problems that stop here (M55-M57, M59)."""
        self._expect_parts()
        name = self._parts(now)
        findings.extend(check_name(name))
        return make_name(name)

    def _expect_parts(self) -> None:
        wanted = ("label",) if self.web else ("label", *NAME_PARTS)
        missing = [f"--{part}" for part in wanted if not getattr(self, part)]
        if missing:
            more = "" if self.web else ", or --web for an archive that is named by its label alone"
            raise click.UsageError(f"The archive's name needs {', '.join(missing)}{more}.")

    def _parts(self, now: datetime) -> ArchiveName:
        if self.web:
            return ArchiveName(self.label or "")
        sets = tuple(piece for text in self.sets if "=" not in text for piece in text.split("-"))
        given = {part: getattr(self, part) for part in ("label", *NAME_PARTS)}
        return ArchiveName(**given, task=NAMES[self.task], sets=sets, time=self.time or now)

    def source(self) -> Source:
        """The files to pack; only a folder will do, for an archive is packed already."""
        source = open_source(self.folder, depth=DEPTH.get(self.task, 1))
        if source.kind != "folder":
            raise SettingError(f"{self.folder} is not a folder. Give the folder that holds the files.")
        if not self.out.is_dir():
            raise SettingError(f"The folder {self.out} does not exist. Make it first, or choose another with --out.")
        return source

    def check(self, source: Source, findings: Findings) -> int:
        """Find all problems of the files, as far as can be known; gives their number."""
        scorer = Scorer(self.task, self.settings)
        if self.extent == "alone":
            pattern = scorer.task.read_settings(scorer.settings)["document_pattern"]
            return check_alone(source, Layout(3, re.compile(pattern)), findings)
        inputs = Inputs(self.folder, self.reference, self.documents, self.queries)
        findings.merge(scorer.findings(inputs))
        return sum(1 for _ in source.members(Findings()))


def _members(source: Source, expected: str) -> Iterator[tuple[str, bytes]]:
    """The files once more, to be packed; if they are no longer those that were checked, nothing is."""
    for member in source.members(Findings()):
        yield member.name, member.data
    if source.digest.value() != expected or not source.complete:
        raise UnreadableError(f"{source.path} changed while it was packed. Let nothing write there, and try again.")


def _show(request: Request, findings: Findings, json: bool, written: dict[str, Any]) -> None:
    if json:
        sys.stdout.write(canonical.dumps({**findings.as_dict(request.task), **written}))
        return
    show_findings(findings, request.task, json=False)
    if written["written"] is None:
        say("Nothing was written.")
        return
    if request.extent == "alone":
        say("Checked without a key or lists: whether queries or documents are missing from all files is not known.")
    click.echo(f"{visible(written['written'])}\n{written['digest']} ({written['files']} files)")


def _explain(name: str, *, json: bool) -> None:
    """Show the parts of a name, or what is wrong with it."""
    found = parse_name(name)
    if isinstance(found, tuple):
        findings = Findings()
        findings.extend(found)
        show_findings(findings, "pack", json=json)
        raise click.exceptions.Exit(1)
    parts = explain(found)
    if json:
        rows = [{"part": part, "value": value, "meaning": meaning} for part, value, meaning in parts]
        sys.stdout.write(canonical.dumps({"name": name, "parts": rows, "valid": True}))
        return
    width = max(len(value) for _, value, _ in parts)
    for part, value, meaning in parts:
        click.echo(f"{part:<10} {value:<{width}}  {meaning}")
