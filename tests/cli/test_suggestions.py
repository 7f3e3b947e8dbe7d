"""Suggestions: shown with their source, counted by outcome, and withheld to measure their effect (R-41)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.cli.running import forked

from basanite.cli.office import open_office
from basanite.server.accounts.local_links import local_link
from basanite.server.app import make_app

NAMES = ("Anna", "Kofi", "Lena", "Omar", "Yuki")
TEXTS = 32
DATA = ("--data", "texts.annotation")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "texts").mkdir()
    for number in range(TEXTS):
        first, second = NAMES[number % 5], NAMES[(number + 2) % 5]
        (tmp_path / "texts" / f"t{number:02d}.txt").write_text(f"{first} met {second} in May.", encoding="utf-8")
    assert forked("annotate", "texts", "--labels", "Person,Place", "--no-serve", cwd=tmp_path).code == 0
    (tmp_path / "rules.tsv").write_text(
        "Person\tAnna\nPerson\tKofi\nPlace\tMay\nPerson\t/Len[a-z]/\n", encoding="utf-8"
    )
    return tmp_path


def suggest(folder, *words):
    ended = forked("admin", "annotation", "suggest", "texts", *words, "--json", *DATA, cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data


class Annotator:
    """Somebody at the page of every text in turn."""

    def __init__(self, office):
        with office.reading() as session:
            from basanite.campaign.people.persons import by_mail

            person = by_mail(session, office, "annotator-1@annotation.invalid").id
        self.client = TestClient(make_app(office), base_url=office.address, client=("127.0.0.1", 7))
        self.page = self.client.get(local_link(office, person)).text

    def given(self):
        return json.loads(re.search(r'<script type="application/json">(.*?)</script>', self.page, re.S)[1])

    def send(self, given, events):
        body = {"after": 0, "events": [{"id": f"e{at}", "kind": k, "data": d} for at, (k, d) in enumerate(events)]}
        headers = {"X-CSRF-Token": given["csrf"], "Accept": "application/json"}
        answer = self.client.post(given["address"], json=body, headers=headers).json()
        assert answer["state"] == "done", answer
        assert not answer["refused"], answer
        self.page = self.client.get(given["next"]).text


def mark(number, category, parts, **more):
    yield "create", {"object": f"o{number}", "category": category, "parent": "", **more}
    yield "span.add", {"object": f"o{number}", "field": "mention", "parts": parts}


def work(given):
    """Accepts persons, dismisses the month, moves what is suggested for Lena; without suggestions marks Anna alone."""
    events, told = [], []
    for at, one in enumerate(given["suggestions"]):
        word = given["text"][one["parts"][0][0] : one["parts"][0][1]]
        parts = [[one["parts"][0][0], one["parts"][0][1] + 4]] if word == "Lena" else one["parts"]
        told.append((one["category"], word))
        if one["category"] == "Place":
            events.append(("dismiss", {"suggestion": one["id"]}))
        elif word != "Kofi":
            events += mark(at, one["category"], parts, suggestion=one["id"])
    if not given["suggestions"] and "Anna" in given["text"]:
        start = given["text"].index("Anna")
        events += mark(0, "Person", [[start, start + 4]])
    return [*events, ("done", {})], told


@pytest.mark.req("R-41")
def test_suggestions_are_counted_by_outcome_and_their_effect_is_measured(project):
    made = suggest(project, "--rules", "rules.tsv", "--without", "50")
    expected = sum(
        text.read_text().count(n) for text in (project / "texts").iterdir() for n in ("Anna", "Kofi", "Lena")
    )
    assert (made["suggestions"], made["texts"], made["source"]) == (expected + TEXTS, TEXTS, "rules")
    groups, counts = {True: [0, 0, 0, 0], False: [0, 0, 0, 0]}, {}
    with open_office(project / "texts.annotation") as office:
        one = Annotator(office)
        for _ in range(TEXTS):
            given = one.given()
            events, told = work(given)
            shown = bool(told)
            words = [n for n in ("Anna", "Kofi", "Lena", "May") for _ in range(given["text"].count(n))]
            for name in words if shown else ():
                outcome = {"Anna": "accepted", "Kofi": "open", "Lena": "changed", "May": "refused"}[name]
                counts[outcome] = counts.get(outcome, 0) + 1
            marked = sum(kind == "create" for kind, _ in events)
            both = words.count("Anna")
            for at, value in enumerate((both, len(words), marked, 1)):
                groups[shown][at] += value
            one.send(given, events)
    found = forked("admin", "annotation", "suggestions", "texts", "--json", *DATA, cwd=project).data
    assert found["outcomes"] == {"rules": counts}
    bias = found["bias"]
    assert bias["texts"] == [groups[True][3], groups[False][3]]
    assert min(bias["texts"]) >= 5, "both groups are there"
    f1 = {shown: 2 * both / (had + marked) for shown, (both, had, marked, _) in groups.items()}
    assert bias["shown"]["value"] == pytest.approx(f1[True])
    assert bias["withheld"]["value"] == pytest.approx(f1[False])
    assert bias["difference"]["value"] == pytest.approx(f1[True] - f1[False])
    assert bias["difference"]["low"] <= bias["difference"]["value"] <= bias["difference"]["high"]
    assert "Effect of showing them" in forked("admin", "annotation", "suggestions", "texts", *DATA, cwd=project).stdout


@pytest.mark.req("R-41")
def test_a_model_learns_from_finished_texts_and_suggests_in_the_others(project):
    early = forked("admin", "annotation", "suggest", "texts", *DATA, cwd=project)
    assert "finish at least 5 texts" in early.stderr
    with open_office(project / "texts.annotation") as office:
        one = Annotator(office)
        for _ in range(12):
            given = one.given()
            people = [match.span() for match in re.finditer("|".join(NAMES), given["text"])]
            events = [event for at, span in enumerate(people) for event in mark(at, "Person", [list(span)])]
            one.send(given, [*events, ("done", {})])
    made = suggest(project, "--without", "0")
    assert made["source"] == "model of 12 texts"
    with open_office(project / "texts.annotation") as office:
        one = Annotator(office)
        assert one.given()["suggestions"] == [], "this text was opened before"
        one.send(one.given(), [("done", {})])
        given = one.given()
    names = [given["text"][a:b] for one in given["suggestions"] for a, b in one["parts"]]
    assert names == [match[0] for match in re.finditer("|".join(NAMES), given["text"])]
    assert {one["source"] for one in given["suggestions"]} == {"model of 12 texts"}


@pytest.mark.req("R-41")
def test_annotations_of_a_file_become_suggestions(project):
    brat = project / "brat"
    brat.mkdir()
    text = (project / "texts" / "t00.txt").read_text()
    (brat / "t00.txt").write_text(text, encoding="utf-8")
    (brat / "t00.ann").write_text("T1\tPerson 0 4\tAnna\n", encoding="utf-8")
    words = ("admin", "annotation", "import", "texts", "brat", "--from", "brat", *DATA)
    assert forked(*words, "--suggest", "--json", cwd=project).data["source"] == "file brat"
    assert forked(*words, cwd=project).code == 2, "whose record, or suggestions, must be said"


@pytest.mark.req("R-41")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Persn\tAnna", "Did you mean 'Person'?"),
        ("Person Anna", "this is not a rule"),
        ("Person\t/(a+)+b/", "could take too long"),
        ("Person\t/x*/", "matches nothing at all"),
        ("Person\t/[a/", "cannot be read"),
        ("Person\tZzz", "nothing is suggested"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(project_once, line, told):
    (project_once / "bad.tsv").write_text(f"{line}\n", encoding="utf-8")
    ended = forked("admin", "annotation", "suggest", "texts", "--rules", "bad.tsv", *DATA, cwd=project_once)
    assert ended.code == 1
    assert told in ended.stderr


@pytest.fixture(scope="module")
def project_once(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("once")
    (folder / "texts").mkdir()
    (folder / "texts" / "one.txt").write_text("Anna sings.", encoding="utf-8")
    assert forked("annotate", "texts", "--labels", "Person", "--no-serve", cwd=folder).code == 0
    return folder
