"""A small package of match reports, its configuration, and a project with annotators in a real office."""

from dataclasses import dataclass
from hashlib import sha256

from tests.offices.prepared import small_season

from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import annotator_work, assignment, setup
from basanite.testing import Season
from basanite.work.annotation.events import Event

MANIFEST = """format = "basanite-reading-package/1"
name = "matches"
version = "1.0.0"
title = "Matches"
licence = "CC0-1.0"
citation = "Invented matches."
namespace = "https://matches.example/m#"

[prefixes]
m = "https://matches.example/m#"

[parts.train]

[parts.test]
sealed = true
"""
ONTOLOGY = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ts: <urn:basanite:reading:> .
@prefix m: <https://matches.example/m#> .

<https://matches.example/m> a owl:Ontology ; rdfs:label "matches" .

m:Match a owl:Class ; rdfs:label "match" ; ts:mark ts:target .
m:Team a owl:Class ; rdfs:label "team" ; ts:mark ts:target .
m:plays a owl:ObjectProperty ; rdfs:label "plays" ; rdfs:domain m:Match ; rdfs:range m:Team ; ts:mark ts:target .
m:won a owl:ObjectProperty ; rdfs:label "won" ; rdfs:domain m:Match ; rdfs:range m:Team ; ts:mark ts:target .
m:called a owl:DatatypeProperty ; rdfs:label "called" ; rdfs:domain m:Team ; rdfs:range xsd:string ; ts:mark ts:target .
m:goals a owl:DatatypeProperty ; rdfs:label "goals" ; rdfs:domain m:Team ; rdfs:range xsd:integer ; ts:mark ts:target .
"""
QUERIES = """format: basanite-queries/1
queries:
  - query: teams
    type: property
    question: Which teams play?
    find: ["?M plays ?T", "?T called ?N"]
    select: ["?N"]

  - query: goals
    type: property
    question: How many goals did each team score?
    find: ["?T called ?N", "?T goals ?G"]
    select: ["?N", "?G"]
"""
RULES = """(format basanite-rules/1)
(namespace <https://matches.example/m#>)
(prefix m <https://matches.example/m#>)

(rule winner-scores "A team without a goal wins no match."
  :if (?x won ?t) (?t goals 0)
  :then (?inputGraph contradicts Matches))
"""
CONFIG = """annotation: matches
version: 1
categories:
  Match: {frame: true, repeat: "1..", mention: optional, key: m}
  Team:  {frame: true, in: Match, repeat: "0..", name: text, mention: span, key: t}
  Goals: {in: Team, value: count, mention: span, inferred: true}
  Won:   {in: Team, choices: {y: "yes", n: "no"}, mention: span}
layout: {left: text, right: {tabs: Match, columns: Team, order: [Goals, Won]}}
assert:
  - {for: Match, mint: "?m", then: ["?m type Match"], provenance: {subject: mention}}
  - {for: Team, mint: "?t", then: ["?t type Team", "?m plays ?t", "?t called ?name"], provenance: {object: mention}}
  - {for: Goals, then: ["?t goals ?value"], provenance: {object: mention}}
  - {for: Won, when: "yes", then: ["?m won ?t"], provenance: {statement: mention}}
"""
TEXTS = {
    "train/one": "😀 The Foxes beat the Owls 2-1 on Sunday. It was cold.",
    "train/two": "The Bears and the Wolves drew, one goal each.",
    "train/three": "Foxes 3, Bears 0.",
    "train/four": "The Owls lost again; the Wolves won 4-0.",
    "test/five": "The Foxes met the Wolves.",
}


def write_package(root):
    """The package as a folder."""
    (root / "queries").mkdir(parents=True)
    (root / "rules").mkdir()
    (root / "gold").mkdir()
    (root / "annotations").mkdir()
    for name, text in {"package.toml": MANIFEST, "ontology.ttl": ONTOLOGY, "guidelines.md": "Mark teams.\n"}.items():
        (root / name).write_text(text, encoding="utf-8")
    (root / "queries" / "queries.yaml").write_text(QUERIES, encoding="utf-8")
    (root / "rules" / "matches.rules").write_text(RULES, encoding="utf-8")
    (root / "gold" / "v1.ndjson").write_text("", encoding="utf-8")
    for part in ("train", "test"):
        (root / "corpus" / part).mkdir(parents=True)
        (root / "annotations" / f"{part}.ndjson").write_text("", encoding="utf-8")
        lines = []
        for name, text in TEXTS.items():
            if name.startswith(part):
                (root / "corpus" / f"{name}.txt").write_text(text, encoding="utf-8")
                lines.append(f"{sha256(text.encode()).hexdigest()}  {name}.txt\n")
        (root / "corpus" / f"{part}.sha256").write_text("".join(lines), encoding="utf-8")
    return root


@dataclass
class Stage:
    """An office with a project and three annotators and an adjudicator."""

    office: Office
    season: Season
    project: str
    anna: str
    axel: str
    adam: str
    judy: str

    def do(self, act, *args, **kwargs):
        """Do an act in a transaction of its own."""
        with self.office.writing() as session:
            return act(session, self.office, *args, **kwargs)

    def ask(self, question, *args, **kwargs):
        """Ask in a session that changes nothing."""
        with self.office.reading() as session:
            return question(session, *args, **kwargs)

    def ask_office(self, question, *args, **kwargs):
        """Ask something that needs the office, too."""
        with self.office.reading() as session:
            return question(session, self.office, *args, **kwargs)

    def task(self, person, name):
        """The task of somebody on a text."""
        waiting = self.ask(annotator_work.queue, self.project, person)
        return next(one.id for one in waiting if one.document == name)

    def send(self, person, name, *events, after=0):
        """Send events as the page would."""
        return self.do(annotator_work.append, Actor(person), self.task(person, name), list(events), after=after)

    def annotate(self, person, name, teams, *, done=True):
        """Mark one match with teams: (name, [start, end], goals or None) each."""
        made = list(marks(teams, salt=f"{person[:4]}-{name}"))
        sent = self.send(person, name, *made, *([Event("done", "done", {})] if done else []))
        assert not sent.refused, sent.refused
        return sent


def marks(teams, salt="e"):
    """The events that fill in one match."""
    number = iter(range(1000))

    def event(kind, **data):
        return Event(f"{salt}-{next(number)}", kind, data)

    yield event("create", object="m1", category="Match", parent="")
    for at, (name, place, goals) in enumerate(teams, start=1):
        yield event("create", object=f"t{at}", category="Team", parent="m1")
        yield event("set", object=f"t{at}", field="name", value=name)
        yield event("span.add", object=f"t{at}", field="mention", parts=[place])
        if goals is not None:
            yield event("set", object=f"t{at}/Goals", field="value", value=str(goals))


def staged(office, package, *, assigned=True, text=None):
    """A season with a project; two annotators for every text of the open part."""
    made = small_season(office, text)
    people = {}
    with office.writing() as session:
        for name in ("anna", "axel", "adam", "judy"):
            people[name] = add_person(session, office, Newcomer(name=name.title(), mail=f"{name}@people.example")).id
        grant(
            session,
            office,
            COMMAND,
            RoleGrant(person_id=people["judy"], role="adjudicator", campaign_id=made.campaign_id),
        )
        project = setup.create_project(
            session, office, made.as_eva, made.campaign_id, setup.NewProject(package, CONFIG)
        )
        if assigned:
            pair = [people["anna"], people["axel"]]
            assignment.assign(session, office, made.as_eva, project.id, pair, assignment.TextScope(part="train"))
    return Stage(office, made, project.id, **people)


def tasks(session, project_id):
    """All tasks of a project."""
    return list(session.query(AnnotationTask).where(AnnotationTask.project_id == project_id))
