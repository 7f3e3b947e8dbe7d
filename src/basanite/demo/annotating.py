"""Machine reading in the demo: people mark reports of games twice over, and what they agree on makes the gold grow.

One report was adjudicated, so the gold has a second version and a run was scored again. In another one the annotators
differ, which waits for Aino; five more wait for Nora. The reports are those of the football example.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from basanite.annotation.events import Event
from basanite.campaign.annotating import adjudicating, assigning, ending, setting_up, working
from basanite.campaign.annotating.finding import document_named
from basanite.campaign.answering import packages, runs, services, tasks
from basanite.campaign.organising import reference_files, rescoring, seconding
from basanite.campaign.organising.references import Place
from basanite.campaign.people import roles
from basanite.demo import opening
from basanite.demo.examples import Examples
from basanite.demo.judging import appoint
from basanite.demo.stage import Stage

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


def play(stage: Stage, examples: Examples) -> None:
    """The task opens, a team hands in, two people annotate, an adjudicator decides, and the gold grows."""
    for who in ANNOTATORS:
        appoint(stage, who, "annotator")
    package = cut(examples.package, stage.files / "reports")
    opening.fill_pack(stage, DATASET, "reports.tgz", _open_files(package))
    people = _answers(stage, examples, "human")
    opening.open_task(stage, DATASET, reference_files.Paths((package,), human=people), task=TASK)
    stage.score([_hand_in(stage, _answers(stage, examples, "baseline"))])
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
    begun = stage.do(runs.start, carl, member, stage.campaign_id, made.id, label="patterns", key="demo").id
    asked = [
        line for line in answers.read_bytes().splitlines(keepends=True) if json.loads(line)["query"] in made.queries
    ]
    given = (office, carl, member, stage.campaign_id, begun, b"".join(asked))
    services.take_answers(*given, media="ndjson", key="demo")


def cut(package: Path, folder: Path) -> Path:
    """A small copy of the package; what its gold says of one report is left to the annotators."""
    shutil.copytree(package, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for part, kept in (("train", OPEN_TEXTS), (PART, TEXTS)):
        for path in (folder / "corpus" / part).glob("*.txt"):
            if path.stem not in kept:
                path.unlink()
        _keep(folder / "corpus" / f"{part}.sha256", _listed, kept)
        _keep(folder / "annotations" / f"{part}.ndjson", _document, kept)
    _keep(folder / "gold" / "v1.ndjson", _document, [name for name in TEXTS if name != AGREED])
    return folder


def _listed(line: str) -> str:
    return Path(line.split()[-1]).stem


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


def _hand_in(stage: Stage, run: Path) -> str:
    told = {"text": "Patterns over the words of the reports, made up for the demo."}
    return stage.submit("carl", "Birch", DATASET, run, TASK, label="patterns", type="primary", description=told)


def _project(stage: Stage, package: Path, config: str) -> str:
    stage.clock.forward(hours=2)
    eva, people = stage.actor("eva"), [stage.people[who] for who in ANNOTATORS]
    made = stage.do(setting_up.create_project, eva, stage.campaign_id, package, config, name="games")
    stage.do(assigning.assign, eva, made.id, people, part=PART)
    return made.id


def _annotate(stage: Stage, project: str, who: str, name: str, marks: tuple[Mark, ...]) -> None:
    """One report, marked and done, in about ten minutes."""
    actor = stage.actor(who)
    with stage.office.reading() as session:
        task = next(one.id for one in working.queue(session, project, actor.id) if one.document == name)
    opened = stage.do(working.open_task, actor, task)
    stage.clock.forward(minutes=10)
    said = [Event(f"{task[:6]}-{at}", *one) for at, one in enumerate(events(opened.document.text, marks))]
    sent = stage.do(working.append, actor, task, [*said, Event(f"{task[:6]}-done", "done", {})], after=0)
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
    while stage.do(adjudicating.accept_unanimous, stage.actor("aino"), text):
        stage.clock.forward(minutes=1)
    return text


def _adjudicate(stage: Stage, project: str, name: str) -> None:
    """What both say is taken; of what one missed, the other's word."""
    aino, text = stage.actor("aino"), _begin(stage, project, name)
    with stage.office.reading() as session:
        table = adjudicating.disagreements(session, stage.office, aino, text)
    for case in table.open_cases:
        side = next(task for task, said in zip(table.tasks, case.aligned.sides, strict=True) if said is not None)
        stage.clock.forward(minutes=4)
        stage.do(adjudicating.decide, aino, text, case.aligned.key, adjudicating.Side(side.id), code="missed")
    stage.do(adjudicating.finish, aino, text)


def _grow(stage: Stage, project: str) -> None:
    """The gold grows by what was adjudicated; the run is scored again, and two people put the version in force."""
    stage.clock.forward(hours=1)
    eva, reason = stage.actor("eva"), f"{AGREED} is adjudicated"
    place = Place(TASK, DATASET, "1A", "")
    material = ending.prepare_reference(stage.office, eva, project, place, reason=reason)
    grown = stage.do(ending.make_reference, eva, project, place, material, reason=reason)
    batch = stage.do(rescoring.preview, eva, grown.id, reason=reason).id
    stage.score_batch(batch)
    stage.do(lambda session, office: rescoring.settle(session, rescoring.find(session, batch)))
    stage.agreed(stage.do(seconding.ask_to_apply, eva, batch))
