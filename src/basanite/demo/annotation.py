"""People at work in the demo: judges of panels, a double-marked key (R-2, M88), and annotators of machine reading.

Annotators mark reports of games twice over, and what they agree on makes the gold grow.
One report was adjudicated, so the gold has a second version and a run was scored again. In another one the annotators
differ, which waits for Aino; five more wait for Nora. The reports are those of the football example.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from basanite.campaign.actions import approvals, references, rescoring
from basanite.campaign.actions.references import Place
from basanite.campaign.office import Actor
from basanite.campaign.people import roles
from basanite.campaign.store.tables.base import random_id
from basanite.campaign.work.annotation import adjudication, annotator_work, assignment, outcome, setup
from basanite.campaign.work.annotation.lookup import document_named
from basanite.campaign.work.panels import enrolment, judge_work
from basanite.campaign.work.panels import setup as panel_setup
from basanite.campaign.work.panels.desk import Desk, judge_desk
from basanite.campaign.work.reading import packages, runs, services, tasks
from basanite.demo.files import Examples
from basanite.demo.stage import Stage, fill_pack, open_task
from basanite.synthetic import normal, share
from basanite.work.annotation.events import Event
from basanite.work.items import Block, Item, item_of

READERS: Final[Mapping[str, str]] = {
    "jana": "expert",
    "kofi": "expert",
    "lena": "expert",
    "mika": "novice",
    "nia": "novice",
    "omar": "novice",
}
"""Who reads passages, and in which group."""
MARKERS: Final = ("kofi", "lena")
"""Who marks the key, each document twice over."""
WAITING: Final = "jana"
"""Anyone who is to be tried has not begun."""
PASSAGES: Final = Path(__file__).with_name("texts.toml")
QUERY: Final = "people who wait for a bus"
TORN: Final = 0.35
"""The share of documents on which one of the two marks otherwise."""
SCHEME: Final = """format = "basanite-judging/1"
name = "{preset}"
preset = "{preset}"
title = "{title}"

[pay]
per_item = {pay}
currency = "EUR"
floor = 13.0
"""
Answer = Callable[[str, Item], dict[str, Any]]


def play_panels(stage: Stage) -> None:
    """Two panels: judges are appointed by two people, then work until a few hours ago."""
    for who in READERS:
        appoint(stage, who, "judge")
    appoint(stage, "aino", "adjudicator")
    read_passages(stage)
    mark_key(stage)


def appoint(stage: Stage, who: str, role: str) -> None:
    """Give somebody a role, which takes two people here."""
    wanted = roles.RoleGrant(stage.people[who], role, reason="reads the language of the data")
    stage.agree(stage.do(approvals.ask_to_grant, stage.actor("eva"), stage.campaign_id, wanted))


def read_passages(stage: Stage) -> None:
    """Experts and novices give stars to passages and put them in order; one of them has not begun."""
    passages = _texts("passages")
    items = []
    for name, one in passages.items():
        facts = {"passage": name, "genre": one["genre"], "topic": one["topic"]}
        items.append(item_of([Block("text", one["text"], lang="en")], facts, new_id=random_id))
    scheme = SCHEME.format(preset="readability", title="How easy is it to read?", pay="0.15")
    panel = _open_panel(stage, "readability", scheme, items, READERS)

    def stars(who: str, item: Item) -> dict[str, Any]:
        spread = 0.5 if READERS[who] == "expert" else 0.9
        meant = passages[item.facts["passage"]]["ease"] + spread * normal("star", who, item.facts["passage"])
        return {"rating": min(5, max(1, round(meant)))}

    for who in READERS:
        if who != WAITING:
            _work(stage, panel, who, items, stars, rounds=1)


def _texts(kind: str) -> dict[str, dict[str, Any]]:
    """The texts of one kind by name: p01, p02 … or d01, d02 …"""
    found = tomllib.loads(PASSAGES.read_text(encoding="utf-8"))[kind]
    return {f"{kind[0]}{number:02d}": one for number, one in enumerate(found, 1)}


def mark_key(stage: Stage) -> None:
    """Two annotators mark the same documents; where they differ, an adjudicator is waited for."""
    documents = _texts("documents")
    items = []
    for name, one in documents.items():
        facts = {"query": "bus", "document": name, "genre": one["genre"]}
        blocks = [Block("query", QUERY), Block("document", one["text"], lang="en")]
        items.append(item_of(blocks, facts, new_id=random_id))
    scheme = SCHEME.format(preset="key-query", title="Which documents answer the query?", pay="0.40")
    panel = _open_panel(stage, "key", scheme, items, dict.fromkeys(MARKERS, "judge"))

    def verdict(who: str, item: Item) -> dict[str, Any]:
        fits = documents[item.facts["document"]]["relevant"]
        if who == MARKERS[1] and share("torn", item.facts["document"]) < TORN:
            words = "waiting is only mentioned in passing" if fits else "there is a bus in it, or a stop"
            return {"relevant": "N" if fits else "Y", "reason": words}
        words = "people wait for a bus" if fits else "nobody waits for a bus"
        return {"relevant": "Y" if fits else "N", "reason": words}

    for who in MARKERS:
        _work(stage, panel, who, items, verdict)


def _open_panel(stage: Stage, name: str, scheme: str, items: list[Item], judges: Mapping[str, str]) -> str:
    """A panel with items and judges, open; gives its id."""
    eva = stage.actor("eva")
    panel = stage.do(panel_setup.create, eva, stage.campaign_id, panel_setup.NewPanel(scheme, name=name)).id
    stage.do(panel_setup.add_items, eva, panel, items)
    for who, group in judges.items():
        stage.do(enrolment.enrol, eva, panel, stage.people[who], group=group)
    stage.clock.forward(minutes=30)
    stage.do(panel_setup.open_panel, eva, panel)
    return panel


def _work(stage: Stage, panel: str, who: str, items: list[Item], answer: Answer, *, rounds: int = 99) -> None:
    """Consent, declare, then judge as many rounds: an item takes about half a minute."""
    actor, known = stage.actor(who), {item.blocks: item for item in items}
    stage.clock.forward(hours=1)
    version = _desk(stage, panel, actor).scheme.consent.version
    stage.do(enrolment.consent, actor, panel, version)
    stage.do(enrolment.declare, actor, panel, languages=("en",))
    while (desk := _desk(stage, panel, actor)).round <= rounds and desk.stage in ("item", "rank", "criteria", "break"):
        if desk.stage == "item":
            seconds = round(35 + 12 * normal("seconds", who, desk.assignment), 1)
            stage.clock.forward(minutes=1)
            given = answer(who, known[desk.blocks])
            stored = judge_work.Answer(given, desk.assignment, seconds)
            stage.do(judge_work.answer, actor, panel, desk.assignment, stored)
        else:
            _end_round(stage, panel, actor, desk)


def _end_round(stage: Stage, panel: str, actor: Actor, desk: Desk) -> None:
    stage.clock.forward(minutes=2)
    if desk.stage == "rank":
        best = sorted(desk.placed, key=lambda one: -one.answers["rating"])
        reply = judge_work.RoundReply(desk.round, [one.item for one in best], f"rank-{desk.round}")
        stage.do(judge_work.rank, actor, panel, reply)
    elif desk.stage == "criteria":
        words = ("short sentences", "plain words", "who does what is said first")
        reply = judge_work.RoundReply(desk.round, words, f"criteria-{desk.round}")
        stage.do(judge_work.criteria, actor, panel, reply)
    else:
        stage.do(judge_work.go_on, actor, panel)


def _desk(stage: Stage, panel: str, actor: Actor) -> Desk:
    with stage.office.reading() as session:
        return judge_desk(session, stage.office, panel, actor.id)


TASK, DATASET, PART = "reading", "REPORTS", "test"
ANNOTATORS: Final = ("nora", "paul")
AGREED, APART = "nfl-101", "nfl-103"
TEXTS: Final = (AGREED, "nfl-102", APART, "nfl-104", "nfl-105", "nfl-106")
OPEN_TEXTS: Final = ("nfl-001", "nfl-002", "nfl-003", "nfl-004")
"""Reports that teams may read."""
LEFT_OUT: Final = ("answers", "as-yaml", "v2.ndjson")
Mark = tuple[str, str, str, str]
"""The object, the field, its value, and the words that say so."""


BILLS: Final[tuple[Mark, ...]] = (
    ("g1", "", "", "The contest"),
    ("g1/Date", "value", "2024-09-22", "September 22, 2024"),
    ("t1", "name", "BuffaloBills", "the Buffalo Bills"),
    ("t1/Score", "value", "24", "24"),
    ("t1/Status", "value", "won", "winners"),
    ("t2", "name", "MiamiDolphins", "the Dolphins"),
    ("t2/Score", "value", "20", "20 winners"),
)
VIKINGS: Final[tuple[Mark, ...]] = (
    ("g1/Date", "value", "2022-11-13", "13 November 2022"),
    ("t1", "name", "MinnesotaVikings", "the Vikings"),
    ("t1/Score", "value", "23", "23"),
    ("t1/Status", "value", "won", "triumph"),
    ("t2", "name", "ChicagoBears", "The Bears"),
)
SAID: Final[Mapping[str, Mapping[str, tuple[Mark, ...]]]] = {
    AGREED: {"nora": (*BILLS, ("t2/HomeAway", "value", "home", "The hosts")), "paul": BILLS},
    APART: {
        "nora": (*VIKINGS, ("g1/Overtime", "value", "true", "a fifth quarter"), ("t2/Score", "value", "20", "20 tri")),
        "paul": (*VIKINGS, ("t2/Score", "value", "10", "ten"), ("t2/HomeAway", "value", "home", "CHICAGO")),
    },
}
"""What each of them found in the reports that both have done."""


def play_annotation(stage: Stage, examples: Examples) -> None:
    """The task opens, a team hands in, two people annotate, an adjudicator decides, and the gold grows."""
    for who in ANNOTATORS:
        appoint(stage, who, "annotator")
    package = cut(examples.package, stage.files / "reports")
    fill_pack(stage, DATASET, "reports.tgz", _open_files(package))
    people = _answers(stage, examples, "human")
    open_task(stage, DATASET, references.Paths((package,), human=people), task=TASK)
    run, about = _answers(stage, examples, "baseline"), "Patterns over the words of the reports, made up for the demo."
    facts = {"label": "patterns", "type": "primary", "description": {"text": about}}
    stage.score([stage.submit("carl", "Birch", DATASET, run, TASK, **facts)])
    project = _project(stage, package, examples.config)
    for name, everybody in SAID.items():
        for who, marks in everybody.items():
            _annotate(stage, project, who, name, marks)
    _adjudicate(stage, project, AGREED)
    _grow(stage, project)
    _begin(stage, project, APART)
    _ask_questions(stage, package, _answers(stage, examples, "baseline"))


def _open_files(package: Path) -> Iterator[tuple[str, bytes]]:
    """What teams get of a package: the reports, what is asked, and what its words mean; no annotations and no gold."""
    for name in ("corpus", "queries", "rules", "ontology.ttl", "README.md"):
        path = package / name
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            yield file.relative_to(package).as_posix(), file.read_bytes()


def _ask_questions(stage: Stage, package: Path, answers: Path) -> None:
    """The questions about the reports are put to people, and a machine's answers to them wait to be adjudicated."""
    stage.clock.forward(hours=1)
    office = replace(stage.office, run=None)  # what reads packages does not survive the fork of a warm process
    prepared = packages.prepare(office, package)
    eva, carl = stage.actor("eva"), stage.actor("carl")
    added = stage.do(packages.add, eva, stage.campaign_id, prepared, window=TASK).id
    with stage.office.reading() as session:
        lead, member = (roles.viewer(session, stage.campaign_id, one.id) for one in (eva, carl))
    wanted = tasks.Wanted(PART, "formal", types=("property",), sample=4)
    made = tasks.make(office, eva, lead, stage.campaign_id, added, wanted)
    begun = stage.do(runs.start, carl, member, stage.campaign_id, runs.RunRequest(made.id, "patterns", "demo")).id
    asked = [
        line for line in answers.read_bytes().splitlines(keepends=True) if json.loads(line)["query"] in made.queries
    ]
    sent = services.AnswerFile(b"".join(asked), "ndjson", "demo")
    services.take_answers(office, carl, member, stage.campaign_id, begun, sent)


def cut(package: Path, folder: Path) -> Path:
    """A small copy of the package; what its gold says of one report is left to the annotators."""
    shutil.copytree(package, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for part, kept in (("train", OPEN_TEXTS), (PART, TEXTS)):
        for path in (folder / "corpus" / part).glob("*.txt"):
            if path.stem not in kept:
                path.unlink()
        _keep(folder / "corpus" / f"{part}.sha256", lambda line: Path(line.split()[-1]).stem, kept)
        _keep(folder / "annotations" / f"{part}.ndjson", _document, kept)
    _keep(folder / "gold" / "v1.ndjson", _document, [name for name in TEXTS if name != AGREED])
    return folder


def _document(line: str) -> str:
    return str(json.loads(line)["document"])


def _keep(path: Path, text_of: Callable[[str], str], texts: Sequence[str]) -> None:
    """Keep the lines of a file that are about these texts."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if text_of(line) in texts]
    path.write_text("".join(lines), encoding="utf-8")


def _answers(stage: Stage, examples: Examples, whose: str) -> Path:
    """What a machine or people answered about these reports."""
    path = stage.files / f"{whose}.ndjson"
    shutil.copyfile(examples.package / "answers" / path.name, path)
    _keep(path, _document, TEXTS)
    return path


def _project(stage: Stage, package: Path, config: str) -> str:
    stage.clock.forward(hours=2)
    eva, people = stage.actor("eva"), [stage.people[who] for who in ANNOTATORS]
    made = stage.do(setup.create_project, eva, stage.campaign_id, setup.NewProject(package, config, name="games"))
    stage.do(assignment.assign, eva, made.id, people, assignment.TextScope(part=PART))
    return made.id


def _annotate(stage: Stage, project: str, who: str, name: str, marks: tuple[Mark, ...]) -> None:
    """One report, marked and done, in about ten minutes."""
    actor = stage.actor(who)
    with stage.office.reading() as session:
        task = next(one.id for one in annotator_work.queue(session, project, actor.id) if one.document == name)
    opened = stage.do(annotator_work.open_task, actor, task)
    stage.clock.forward(minutes=10)
    said = [Event(f"{task[:6]}-{at}", *one) for at, one in enumerate(events(opened.document.text, marks))]
    sent = stage.do(annotator_work.append, actor, task, [*said, Event(f"{task[:6]}-done", "done", {})], after=0)
    if sent.refused:
        raise ValueError(f"{who} cannot mark {name} so: {sent.refused}")


def events(text: str, marks: tuple[Mark, ...]) -> Iterator[tuple[str, dict[str, object]]]:
    """What somebody does to a text, in the words that the page sends.

    >>> list(events("Bears 27", (("t1", "name", "ChicagoBears", "Bears"),)))[-1]
    ('span.add', {'object': 't1', 'field': 'mention', 'parts': [[0, 5]]})
    """
    yield "create", {"object": "g1", "category": "Game", "parent": ""}
    for thing, field, value, words in marks:
        if thing.startswith("t") and "/" not in thing:
            yield "create", {"object": thing, "category": "Team", "parent": "g1"}
        if field:
            yield "set", {"object": thing, "field": field, "value": value}
        start = text.index(words)
        end = start + (len(value) if field == "value" and words.startswith(value) else len(words))
        yield "span.add", {"object": thing, "field": "mention", "parts": [[start, end]]}


def _begin(stage: Stage, project: str, name: str) -> str:
    """An adjudicator takes what both annotators say alike: the game, then its teams, then what is said of them."""
    stage.clock.forward(hours=3)
    with stage.office.reading() as session:
        text = document_named(session, project, name).id
    while stage.do(adjudication.accept_unanimous, stage.actor("aino"), text):
        stage.clock.forward(minutes=1)
    return text


def _adjudicate(stage: Stage, project: str, name: str) -> None:
    """What both say is taken; of what one missed, the other's word."""
    aino, text = stage.actor("aino"), _begin(stage, project, name)
    with stage.office.reading() as session:
        table = adjudication.disagreements(session, stage.office, aino, text)
    for case in table.open_cases:
        side = next(task for task, said in zip(table.tasks, case.aligned.sides, strict=True) if said is not None)
        stage.clock.forward(minutes=4)
        ruling = adjudication.Ruling(adjudication.Side(side.id), code="missed")
        stage.do(adjudication.decide, aino, text, case.aligned.key, ruling)
    stage.do(adjudication.finish, aino, text)


def _grow(stage: Stage, project: str) -> None:
    """The gold grows by what was adjudicated; the run is scored again, and two people put the version in force."""
    stage.clock.forward(hours=1)
    eva, reason = stage.actor("eva"), f"{AGREED} is adjudicated"
    place = Place(TASK, DATASET, "1A", "")
    new = outcome.prepare_reference(stage.office, eva, project, place, reason=reason)
    grown = stage.do(outcome.make_reference, eva, project, new)
    batch = stage.do(rescoring.preview, eva, grown.id, reason=reason).id
    stage.score_batch(batch)
    stage.do(lambda session, office: rescoring.settle(session, rescoring.find(session, batch)))
    stage.agree(stage.do(rescoring.ask_to_apply, eva, batch))
