"""Panels in the season that examples of `basanite admin panel` work on: new, being judged, done, and of summaries."""

from __future__ import annotations

import csv
import io
import json
import shutil

from sqlalchemy import inspect, select
from tests.cli.running import JUDGING

from basanite.campaign.office import Actor
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.store.tables import Submission
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.panels import batches, enrolment, judge_work, setup
from basanite.campaign.work.panels.desk import judge_desk
from basanite.formats.archives.output import write_archive
from basanite.synthetic.summaries import text_picture
from basanite.work.items import Block, item_of

DOCUMENT = "MATERIAL_BASE-1A_00000001"


def fill_panels(stage, folder) -> None:
    """Make the panels `new`, `key`, `ease`, `done`, `sums` and `found`, and the files that examples name."""
    shutil.copytree(JUDGING / "schemes", folder / "schemes", dirs_exist_ok=True)
    (folder / "passages.csv").write_text("query,document,document_id\nrain,It rained.,d1\nsnow,It snowed.,d2\n")
    (folder / "query_list.tsv").write_text("query_id\tquery_string\tdomain_id\nquery1\tzebra\tLIF\n")
    scheme = (JUDGING / "schemes" / "key-query.toml").read_text()
    judges = [_person(stage, name) for name in ("nora", "olaf")]
    _panel(stage, scheme, "new", judges, opened=False)
    key = _panel(stage, scheme, "key", judges)
    _judged(stage, key, judges, ("Y", "N"))
    _rated(stage)
    done = _panel(stage, scheme, "done", judges)
    _judged(stage, done, judges, ("Y", "Y"))
    stage.do(setup.close_panel, stage.season.as_eva, done)
    _batch(stage, key, folder)
    _summaries(stage, folder)
    _pool(stage)


def _person(stage, name: str) -> str:
    with stage.office.writing() as session:
        return add_person(session, stage.office, Newcomer(name=name.title(), mail=f"{name}@people.example")).id


def _panel(stage, scheme: str, name: str, judges, *, opened: bool = True) -> str:
    eva, office = stage.season.as_eva, stage.office
    panel = stage.do(setup.create, eva, stage.season.campaign_id, setup.NewPanel(scheme, name=name)).id
    words = ("query1", DOCUMENT) if name == "done" else ("query9", "MATERIAL_BASE-1A_00000009")
    blocks = [Block("query", words[0]), Block("document", f"{words[1]} is about it.")]
    item = item_of(blocks, {"query": words[0], "document": words[1]}, new_id=random_id)
    stage.do(setup.add_items, eva, panel, [item])
    for judge in judges:
        stage.do(enrolment.enrol, eva, panel, judge)
    if opened:
        stage.do(setup.open_panel, eva, panel)
    assert office is stage.office
    return panel


def _rated(stage) -> None:
    """A panel that gives scores to texts."""
    scheme = (JUDGING / "schemes" / "readability.toml").read_text()
    panel = stage.do(
        setup.create, stage.season.as_eva, stage.season.campaign_id, setup.NewPanel(scheme, name="ease")
    ).id
    texts = ("It rained all night in the valley.", "We took the slow train along the coast.")
    items = [item_of([Block("text", text)], {"passage": text[:2]}, new_id=random_id) for text in texts]
    stage.do(setup.add_items, stage.season.as_eva, panel, items)


def _judged(stage, panel: str, judges, marks) -> None:
    for judge, mark in zip(judges, marks, strict=True):
        stage.do(enrolment.consent, Actor(judge), panel, "1")
        stage.do(enrolment.declare, Actor(judge), panel)
        with stage.office.reading() as session:
            at = judge_desk(session, stage.office, panel, judge).assignment
        stage.do(
            judge_work.answer, Actor(judge), panel, at, judge_work.Answer({"relevant": mark}, key="one", seconds=20)
        )


def _batch(stage, panel: str, folder) -> None:
    """A batch that is out, and what came back."""
    made = stage.do(batches.export_batch, stage.season.as_eva, panel)
    (row,) = csv.DictReader(io.StringIO(made.table.decode()))
    cells = {"HITId": "H1", "AssignmentId": "A1", "WorkerId": "W1", "AssignmentStatus": "Approved"}
    cells |= {f"Input.{name}": value for name, value in row.items()} | {"Answer.relevant": "Y"}
    with (folder / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(cells))
        writer.writeheader()
        writer.writerow(cells)


def _summaries(stage, folder) -> None:
    """A run with one summary, and a panel that is to judge it."""
    base = f"query1/FLAIR.Alpha.query1.{DOCUMENT}"
    files = {
        "query1/query1.tsv": f"{DOCUMENT}\tY\t0.9\t{base[7:]}.json\n".encode(),
        f"{base}.json": json.dumps({"instructions": {}}).encode(),
        f"{base}.png": text_picture(["a", "zebra"]),
    }
    write_archive(files.items(), folder / "summaries.tgz")
    stored = stage.office.files.take(folder / "summaries.tgz")
    with stage.office.writing() as session:
        run = session.scalars(select(Submission).where(Submission.window == "dev").limit(1)).one()
        same = {column.key: getattr(run, column.key) for column in inspect(Submission).columns}
        changed = {"id": random_id(), "task": "E2E", "sha256": stored.digest, "size": stored.size, "number": 77}
        session.add(Submission(**same | changed | {"name": "summaries.tgz", "state": "scored"}))
    scheme = (JUDGING / "schemes" / "relevance.toml").read_text()
    stage.do(
        setup.create, stage.season.as_eva, stage.season.campaign_id, setup.NewPanel(scheme, name="sums", window="dev")
    )


def _pool(stage) -> None:
    """A panel for what the runs of a window found."""
    scheme = (JUDGING / "schemes" / "pool.toml").read_text()
    stage.do(
        setup.create, stage.season.as_eva, stage.season.campaign_id, setup.NewPanel(scheme, name="found", window="dev")
    )
