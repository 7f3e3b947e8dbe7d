"""`basanite annotate`: from texts and labels to a page where they are marked, in one command (R-40)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from basanite import canonical
from basanite.cli.admin.desk import refusals
from basanite.cli.office import open_office
from basanite.cli.options import PATH, as_json, example, plain_findings, problem_line, say
from basanite.errors import InvalidInputError, SettingError
from basanite.problems import Findings, visible
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from basanite.campaign.office import Office
    from basanite.campaign.store.tables import AnnotationProject
    from basanite.work.exchange.projects import Project

DATABASE: Final = "basanite.sqlite"
HOST: Final = "127.0.0.1"
ENDING: Final = ".annotation"


@click.command(epilog=example("basanite annotate brat --labels Person,Place --no-serve"))
@click.argument("texts", type=PATH)
@click.option("--labels", default="", metavar="LIST", help="Labels of words, joined by commas: Person,Place.")
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="NAME=A,B",
    help="Chosen for each text: Tone=good,bad. Tone*= allows several, Comment= is free text. Can be repeated.",
)
@click.option(
    "--relation",
    "relations",
    multiple=True,
    metavar="NAME=A:B",
    help="A relation between labels: works_for=Person:Company|Agency. Can be repeated.",
)
@click.option("--column", default="", help="The column of the texts, of a CSV, TSV or JSONL file. [default: text]")
@click.option("--schema", type=PATH, help="Labels from brat's annotation.conf or Label Studio's XML configuration.")
@click.option(
    "--annotators", type=click.IntRange(1, 20), default=1, show_default=True, help="How many people annotate."
)
@click.option("--data", type=PATH, help="The folder of the project. [default: the name of TEXTS, with .annotation]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port. [default: any that is free]")
@click.option("--serve/--no-serve", default=True, show_default=True, help="Serve the page until Ctrl-C.")
@as_json
def annotate(texts: Path, **given: Any) -> None:
    """Annotate TEXTS in the browser: make a project, serve it on this machine, and print a link for each annotator.

    TEXTS is a folder of .txt files, a .txt file with one text per line, a column of a CSV, TSV or JSONL file, a brat
    folder, a Label Studio export, a CoNLL file, or the folder of a project, which goes on where it was left.
    """
    call = Call(texts, **given)
    folder = call.folder
    there = (folder / DATABASE).is_file()
    if folder.exists() and not there and any(folder.iterdir()):
        raise SettingError(f"{folder} is no annotation project and is not empty. Choose another --data.")
    with refusals(json=call.as_json):
        source = None if there else _read_source(call)
        with open_office(folder) as office:
            made = _project(office, call, source)
            if not call.serve:
                _tell(office, call, made, "")
                return
            _serve(office, call, made)


@dataclass(frozen=True)
class Call:
    """What the command was called with."""

    texts: Path
    labels: str
    questions: tuple[str, ...]
    relations: tuple[str, ...]
    column: str
    schema: Path | None
    annotators: int
    data: Path | None
    port: int
    serve: bool
    as_json: bool

    @property
    def folder(self) -> Path:
        """Where the project is: the folder that was given, or one beside this one named after the texts."""
        if (self.texts / DATABASE).is_file():
            return self.texts
        return self.data or Path(f"{self.texts.resolve().stem or 'texts'}{ENDING}")

    @property
    def typed(self) -> bool:
        """Whether labels were given on the command line."""
        return bool(self.labels.strip() or self.questions or self.relations)


@dataclass(frozen=True)
class Made:
    """A project and those who annotate it."""

    name: str
    texts: int
    labels: tuple[str, ...]
    people: tuple[str, ...]
    marks: int
    fresh: bool


def _read_source(call: Call) -> Project:
    """Texts, labels and marks; every problem is listed, and nothing is made then."""
    from dataclasses import replace

    from basanite.work.annotation.labels import LabelError, LabelSet, read_labels
    from basanite.work.exchange.projects import read_project

    if (call.texts / "package.toml").is_file():
        fix = "Create a project on a server: basanite admin annotation create"
        raise SettingError(f"{call.texts} is a reading package with a configuration of its own. {fix}")
    findings = Findings()
    try:
        typed = read_labels(call.labels, call.questions, call.relations) if call.typed else LabelSet()
    except LabelError as error:
        raise SettingError(f"{error}. {error.fix[0].upper()}{error.fix[1:]}.") from None
    source = read_project(call.texts, findings, column=call.column, schema=call.schema)
    if not findings.valid:
        raise InvalidInputError("annotate", findings)
    for problem in [] if call.as_json else plain_findings(findings):
        say(problem_line(problem))
    labels = source.labels.joined(typed)
    if not labels.names:
        raise SettingError("There are no labels. Give at least one: --labels Person,Place")
    return replace(source, labels=labels)


def _project(office: Office, call: Call, source: Project | None) -> Made:
    """The project of the folder: made now, or the one that is there."""
    from sqlalchemy import select

    from basanite.campaign.actions.plans import add_campaign
    from basanite.campaign.office import COMMAND
    from basanite.campaign.store.tables import AnnotationProject
    from basanite.campaign.work.annotation import quick_start

    with office.writing() as session:
        row = session.scalars(select(AnnotationProject)).first()
        fresh, marks = row is None, 0
        if row is None:
            source = source or _read_source(call)
            campaign = add_campaign(session, office, COMMAND, quick_start.CAMPAIGN)
            material = quick_start.Material(source.texts, source.labels, call.texts.resolve().stem)
            count = call.annotators
            row = quick_start.create_from_texts(session, office, COMMAND, campaign.id, material, per_document=count)
        people = quick_start.add_annotators(session, office, COMMAND, row, max(call.annotators, row.per_document))
        if fresh and source is not None:
            brought = quick_start.bring_in_marks(session, office, COMMAND, row, people[0], source.annotated)
            marks = brought.texts
        return _made_project(session, office, row, people, marks, fresh=fresh)


def _made_project(
    session: Session, office: Office, row: AnnotationProject, people: Sequence[str], marks: int, *, fresh: bool
) -> Made:
    from basanite.campaign.work.annotation.lookup import bench_of, documents

    labels = tuple(one.title for one in bench_of(session, office, row).config.categories.values())
    return Made(row.name, len(documents(session, row.id)), labels, tuple(people), marks, fresh)


def _serve(office: Office, call: Call, made: Made) -> None:
    from basanite.cli.server import linked_at, listening_at, listening_socket, run_server

    with listening_socket(HOST, call.port) as line:
        host, port = line.getsockname()[:2]
        address = listening_at(host, port)
        office.remember_address(linked_at(address))
        _tell(office, call, made, address)
        run_server(office, line, worker=False)


def _tell(office: Office, call: Call, made: Made, address: str) -> None:
    """Print what was made and the links; no stranger's text can hide or act in them (X-14)."""
    from basanite.server.accounts.local_links import local_link

    links = [f"{address}{local_link(office, person)}" for person in made.people] if address else []
    out = f"{made.name}-out"
    export = (
        f"basanite admin annotation export {made.name} --to label-studio --which all --out {out} --data {call.folder}"
    )
    if call.as_json:
        facts = {"project": made.name, "texts": made.texts, "labels": made.labels, "annotated": made.marks}
        facts |= {"data": str(call.folder), "new": made.fresh, "links": links, "export": export}
        sys.stdout.write(canonical.dumps(facts))
    else:
        for line in _lines(call, made, links, export):
            click.echo(visible(line))
    sys.stdout.flush()


def _lines(call: Call, made: Made, links: Sequence[str], export: str) -> list[str]:
    told = f"{plural('text', made.texts)}, labels: {', '.join(made.labels)}."
    lines = [f"Project {made.name}: {told}" if made.fresh else f"Project {made.name} goes on: {told}"]
    if made.marks:
        lines.append(f"{plural('text', made.marks)} came with annotations; annotator 1 goes on with them.")
    several = len(links) > 1
    lines += [f"{f'Annotator {number}' if several else 'Open'}: {link}" for number, link in enumerate(links, start=1)]
    lines.append(f"Export at any time: {export}")
    return [*lines, "Stop with Ctrl-C." if links else f"Start it: basanite annotate {call.folder}"]
