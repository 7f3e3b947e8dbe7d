"""Suggestions: shown with their source, counted by outcome, and withheld to measure their effect (R-41)."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@pytest.mark.req("R-40", "R-41")
def test_texts_of_which_a_model_is_least_sure_come_first(tmp_path):
    (tmp_path / "texts").mkdir()
    for number in range(24):
        first, second = NAMES[number % 5], NAMES[(number + 2) % 5]
        odd = f"Zyx {number} qualms @ {second.lower()}-{first}?" if number % 4 == 0 else f"{first} met {second} in May."
        (tmp_path / "texts" / f"t{number:02d}.txt").write_text(odd, encoding="utf-8")
    assert forked("annotate", "texts", "--labels", "Person,Place", "--no-serve", cwd=tmp_path).code == 0
    words = ("admin", "annotation", "order", "texts", *DATA, "--json")
    assert "finish at least 5 texts" in forked(*words, cwd=tmp_path).stdout
    with open_office(tmp_path / "texts.annotation") as office:
        one, easy = Annotator(office), 0
        while easy < 8:
            given = one.given()
            people = [match.span() for match in re.finditer("|".join(NAMES), given["text"])]
            easy += "met" in given["text"]
            events = [event for at, span in enumerate(people) for event in mark(at, "Person", [list(span)])]
            one.send(given, [*events, ("done", {})])
    made = forked(*words, cwd=tmp_path).data
    texts = {path.stem: path.read_text() for path in (tmp_path / "texts").glob("*.txt")}
    scores, order = [one["score"] for one in made["texts"]], [one["text"] for one in made["texts"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    odd = [name for name in order if "Zyx" in texts[name]]
    assert odd, "some of them wait"
    assert order[: len(odd)] == odd, "what looks like nothing that was learned comes first"
    with open_office(tmp_path / "texts.annotation") as office:
        one = Annotator(office)
        one.send(one.given(), [("done", {})])  # it was open before the order changed
        first = one.given()["text"]
    assert scores[order.index(next(name for name in order if texts[name] == first))] == scores[0]
    refused = forked("admin", "annotation", "order", "texts", "--by", "size", *DATA, cwd=tmp_path)
    assert refused.code != 0
    assert "is not one of 'uncertainty', 'disagreement'" in refused.stderr


class Endpoint:
    """A program on this machine that suggests labels, or answers something else."""

    def __init__(self, answer):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body)
                status, content = answer(body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/suggest"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def capitals(body):
    """Suggest every word in capitals as a person."""
    texts = [
        {
            "name": one["name"],
            "labels": [
                {"label": "Person", "start": match.start(), "end": match.end(), "score": 0.5}
                for match in re.finditer("|".join(NAMES), one["text"])
            ],
        }
        for one in body["texts"]
    ]
    return 200, json.dumps({"format": "basanite-suggest/1", "texts": texts}).encode()


def ask(folder, url, *words):
    return forked("admin", "annotation", "ask", "texts", url, *words, *DATA, cwd=folder)


@pytest.mark.req("R-41")
def test_an_endpoint_suggests_labels_in_texts_that_nobody_has_opened(project):
    with Endpoint(capitals) as endpoint:
        made = ask(project, endpoint.url, "--loopback", "--without", "0", "--json")
    assert made.code == 0, made.stderr
    assert (made.data["texts"], made.data["suggestions"], made.data["source"]) == (
        TEXTS,
        2 * TEXTS,
        "endpoint 127.0.0.1",
    )
    assert sum(len(one["texts"]) for one in endpoint.asked) == TEXTS
    assert max(len(one["texts"]) for one in endpoint.asked) <= 20, "some at a time"
    assert endpoint.asked[0]["labels"] == ["Person", "Place"]
    with open_office(project / "texts.annotation") as office:
        given = Annotator(office).given()
    names = [given["text"][a:b] for one in given["suggestions"] for a, b in one["parts"]]
    assert names == re.findall("|".join(NAMES), given["text"])


def labelled(**change):
    """An answer with one label in the first text that is asked about."""
    one = {"label": "Person", "start": 0, "end": 4, **change}
    return lambda body: (200, json.dumps({"texts": [{"name": body["texts"][0]["name"], "labels": [one]}]}).encode())


@pytest.mark.req("R-41")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (labelled(label="Persn"), "there is no label 'Persn'"),
        (labelled(end=10**9), "lies outside the text"),
        (labelled(start=True), "lies outside the text"),
        (labelled(start=4), "lies outside the text"),
        (labelled(score="high"), "is no number"),
        (lambda body: (200, b'{"texts": [{"name": "other", "labels": []}]}'), "a text that was not asked about"),
        (lambda body: (200, b"[" * 100_000), "cannot be read"),
        (lambda body: (200, b'{"labels": []}'), "there is no list `texts`"),
        (lambda body: (500, b"oops"), "it answered 500"),
    ],
)
def test_a_bad_answer_of_an_endpoint_is_refused_as_a_whole(project_once, answer, told):
    with Endpoint(answer) as endpoint:
        made = ask(project_once, endpoint.url, "--loopback")
    assert made.code != 0
    assert told in made.stderr
    assert "Traceback" not in made.stderr


@pytest.mark.req("R-41", "X-35")
@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/x", "https://10.0.0.1/x", "https://localhost/x", "https://user@example.org/", "ftp://a/"],
)
def test_an_address_that_a_webhook_could_not_have_is_not_called(project_once, url):
    made = ask(project_once, url)
    assert made.code != 0
    assert "the endpoint cannot be asked" in made.stderr
