"""The annotation forms of the shipped domains: whatever their annotations say can be said with the form (R-37)."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from tests.cli.running import READING, here

FRAMES = {
    "maintenance": ("Machine", "Technician", "Part", "Job"),
    "lives": ("Person", "Place", "Institution"),
    "business": ("Company", "Person", "Acquisition", "Appointment"),
}
"""The categories that make things, by the class of the same name."""
REPEATED = {"By", "Fitted", "Owns", "WorksFor", "Post", "Occupation", "Studied", "Married", "Child", "Sibling"}
NAMELESS = {"Job", "Acquisition", "Appointment"}
OWN = {"machine": "machine", "buyer": "buyer", "target": "target", "appointee": "appointee", "employer": "employer"}
OWN |= {"succeeds": "predecessor"}
"""Properties that are fields of the form itself."""
PARTS = {
    **{"serviceInterval": ("Interval", "value"), "doneBy": ("By", "person"), "fitted": ("Fitted", "part")},
    **{
        "fault": ("Fault", "value"),
        "doneOn": ("Done", "value"),
        "outSince": ("Out", "value"),
        "backOn": ("Back", "value"),
    },
    **{"runningHours": ("Hours", "value"), "bornOn": ("Born", "value"), "diedOn": ("Died", "value")},
    **{"bornIn": ("BornIn", "place"), "diedIn": ("DiedIn", "place"), "occupation": ("Occupation", "value")},
    **{"studiedAt": ("Studied", "at"), "marriedTo": ("Married", "spouse"), "childOf": ("Child", "parent")},
    **{"siblingOf": ("Sibling", "other"), "owns": ("Owns", "company"), "worksFor": ("WorksFor", "company")},
    **{"holdsPosition": ("Post", "value"), "price": ("Price", "value"), "closedOn": ("Closed", "value")},
    **{"calledOff": ("CalledOff", "value"), "position": ("Position", "value"), "startsOn": ("Starts", "value")},
}
"""Properties that have an entry of their own in the form: its category, and the field in it."""


class Annotator:
    """Somebody who fills in the form with what annotations say."""

    def __init__(self, lines):
        self.events, self.things = [], {}
        for line in lines:
            self.say(*line["statement"], [[one["start"], one["end"]] for one in line["provenance"][:1]])

    def event(self, kind, **data):
        """Note a change."""
        self.events.append({"id": f"e{len(self.events)}", "kind": kind, "data": data})

    def say(self, subject, predicate, value, parts):
        """Fill in one statement."""
        if predicate == "type":
            self.things[subject] = value
            self.event("create", object=subject, category=value, parent="")
            if value not in NAMELESS:
                self.event("set", object=subject, field="name", value=subject)
                self.event("span.add", object=subject, field="mention", parts=parts)
        elif predicate in OWN and self.things[subject] in NAMELESS:
            self.event("set", object=subject, field=OWN[predicate], value=value)
        else:
            category, field = PARTS[predicate]
            made = f"o{len(self.events)}" if category in REPEATED else f"{subject}/{category}"
            if category in REPEATED:
                self.event("create", object=made, category=category, parent=subject)
            given = {"true": "yes", "false": "no"}.get(value.strip('"'), value.strip('"'))
            self.event("set", object=made, field=field, value=given)
            if parts:
                self.event("span.add", object=made, field="mention", parts=parts)


def explicit(path):
    """The explicit statements of a file of annotations, by document."""
    found = defaultdict(list)
    for text in path.read_text().splitlines():
        line = json.loads(text)
        if line["kind"] == "explicit":
            found[line["document"]].append(line)
    return found


def statement(line):
    """What a line says, whatever short names it is written with."""
    return tuple(word.removeprefix("rdf:").split("^^")[0].strip('"') for word in line["statement"])


@pytest.mark.req("R-37")
@pytest.mark.parametrize("domain", FRAMES)
def test_the_form_of_a_domain_says_everything_that_its_annotations_say(domain, tmp_path):
    package = READING / domain
    lines = {**explicit(package / "annotations/train.ndjson"), **explicit(package / "annotations/test.ndjson")}
    records = [
        {"document": name, "annotator": "A", "version": 1, "events": Annotator(said).events}
        for name, said in lines.items()
    ]
    (tmp_path / "records.ndjson").write_text("".join(json.dumps(one) + "\n" for one in records))
    words = ("--to", "annotations", "--config", package / "annotation.yaml", "--package", package, "--out", "out")
    ended = here("annotation", "export", "records.ndjson", *words, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    made = defaultdict(list)
    for path in (tmp_path / "out").rglob("*.ndjson"):
        for name, said in explicit(path).items():
            made[name] += said
    assert len(lines) >= 10
    for name, said in lines.items():
        wanted, got = (set(map(statement, some)) for some in (said, made[name]))
        assert got == wanted, name
