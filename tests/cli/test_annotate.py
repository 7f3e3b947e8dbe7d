"""`basanite annotate` and `annotation import`: from texts, labels or another tool's project to annotations (R-40)."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar

import pytest
from tests.cli.running import forked, plain

CONF = """[entities]
Person
Organization
\tCompany

[relations]
works_for\tArg1:Person, Arg2:<ORG>
<ORG>=Organization|Company

[events]
Hiring\tWho:Person, By?:<ORG>

[attributes]
Mood\tArg:Person, Value:glad|sad
"""
XML = """<View><Text name="text" value="$text"/>
<Labels name="label" toName="text"><Label value="Per son"/><Label value="Place"/></Labels>
<Choices name="tone" toName="text" choice="single"><Choice value="good"/><Choice value="bad"/></Choices>
<TextArea name="why" toName="text" perRegion="true" whenLabelValue="Place"/>
<Relations><Relation value="lives in"/></Relations></View>"""


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text("Anna lives in Berlin.\nKofi works for Acme.", encoding="utf-8")
    (folder / "two.txt").write_bytes(b"\xef\xbb\xbfCafe\xcc\x81 in Accra.\r\n")
    return folder


@contextlib.contextmanager
def served(cwd, *words):
    """The command as a process, with the facts that it prints; ended as a person ends it."""
    command = [sys.executable, "-m", "basanite", "annotate", *words, "--json"]
    process = subprocess.Popen(command, cwd=cwd, env=plain(), stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline()]
        while lines[-1].rstrip() != "}" and not lines[-1].endswith("}\n"):
            lines.append(process.stdout.readline())
        yield json.loads("".join(lines))
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)


def project_of(path, *words):
    ended = forked("annotate", *words, "--no-serve", "--json", cwd=path)
    assert ended.code == 0, ended.stdout + ended.stderr
    return ended.data


@pytest.mark.req("R-40")
def test_one_command_leads_from_texts_and_labels_to_a_page_and_another_to_the_result(texts, tmp_path):
    labels = ("--labels", "Person,Place", "--question", "Tone=good,bad", "--relation", "lives_in=Person:Place")
    with served(tmp_path, "texts", *labels) as made:
        assert (made["texts"], made["labels"]) == (2, ["Person", "Place", "Tone", "lives_in"])
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with pytest.raises(urllib.error.HTTPError) as forged:
            browser.open(made["links"][0][:-3] + "abc")
        assert forged.value.code == 404
        forged.value.close()
        with browser.open(made["links"][0]) as answer:
            page = answer.read().decode()
        given = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S)[1])
        start = given["text"].index("A")
        events = [
            ("p", "create", {"object": "a", "category": "Person", "parent": ""}),
            ("w", "span.add", {"object": "a", "field": "mention", "parts": [[start, start + 4]]}),
            ("q", "set", {"object": "/Tone", "field": "value", "value": "good"}),
        ]
        body = {"after": 0, "events": [{"id": i, "kind": kind, "data": data} for i, kind, data in events]}
        address = made["links"][0].partition("/annotate/enter")[0] + given["address"]
        headers = {"Content-Type": "application/json", "X-CSRF-Token": given["csrf"]}
        with browser.open(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
            assert json.load(answer)["accepted"] == ["p", "w", "q"]
    again = project_of(tmp_path, "texts.annotation")
    assert (again["new"], again["texts"]) == (False, 2), "the folder goes on where it was left"
    words = ("--to", "label-studio", "--which", "all", "--out", "out", "--data", "texts.annotation")
    assert forked("admin", "annotation", "export", "texts", *words, cwd=tmp_path).code == 0
    (task,) = json.loads((tmp_path / "out" / "label-studio.json").read_text())
    found = {one["type"]: one["value"] for one in task["annotations"][0]["result"]}
    assert found["labels"]["labels"] == ["Person"]
    assert found["textarea"]["text"] == ["good"]


@pytest.mark.req("R-40")
@pytest.mark.parametrize(
    ("name", "content", "more", "count"),
    [
        ("lines.txt", "first text\nsecond text\n\n", (), 2),
        ("table.csv", 'id,body\nA,"one, two"\nB,three\n', ("--column", "body"), 2),
        ("rows.jsonl", '{"id": "x", "text": "one"}\n{"id": "x", "text": "two"}\n', (), 2),
    ],
)
def test_texts_come_as_lines_or_as_a_column(tmp_path, name, content, more, count):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert project_of(tmp_path, name, "--labels", "Person", *more)["texts"] == count


@pytest.mark.req("R-40")
def test_a_brat_project_brings_its_texts_labels_and_marks_with_or_without_its_schema(tmp_path):
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "a.txt").write_bytes("Anna 🏈 joined Acme.\r\nShe is glad.".encode())
    lines = "T1\tPerson 0 4\tAnna\nT2\tCompany 14 18\tAcme\nA1\tMood T1 glad\nR1\tworks_for Arg1:T1 Arg2:T2\n"
    lines += "T3\tHiring 7 13\tjoined\nE1\tHiring:T3 Who:T1 By:T2\n"
    (folder / "a.ann").write_text(lines, encoding="utf-8")
    (folder / "b.txt").write_text("Nothing marked yet.", encoding="utf-8")
    made = forked("annotation", "import", "brat", "--from", "brat", "--out", "bare", "--json", cwd=tmp_path).data
    assert (made["texts"], made["records"], made["problems"]) == (2, 1, [])
    assert made["labels"] == ["Person", "Hiring", "Company", "works_for", "Who", "By"]
    (folder / "annotation.conf").write_text(CONF, encoding="utf-8")
    made = forked("annotation", "import", "brat", "--from", "brat", "--out", "full", "--json", cwd=tmp_path).data
    assert made["labels"] == ["Person", "Organization", "Company", "Hiring", "works_for", "Who", "By"]
    config = (tmp_path / "full" / "annotation.yaml").read_text()
    assert 'choices: ["glad", "sad"]' in config
    words = ("--to", "brat", "--config", "full/annotation.yaml", "--package", "full", "--out", "back")
    assert forked("annotation", "export", "full/records.ndjson", *words, cwd=tmp_path).code == 0
    back = (tmp_path / "back" / "a.ann").read_text()
    for line in ("Person 0 4\tAnna", "Mood T1 glad", "works_for Arg1:T1 Arg2:", "Who Arg1:", "By Arg1:"):
        assert line in back, (line, back)


@pytest.mark.req("R-40")
def test_a_label_studio_project_brings_its_configuration_and_answers_about_whole_texts(tmp_path):
    (tmp_path / "schema.xml").write_text(XML, encoding="utf-8")
    results = [
        {"id": "r1", "type": "choices", "from_name": "tone", "to_name": "text", "value": {"choices": ["bad"]}},
        {"id": "r2", "type": "labels", "value": {"start": 0, "end": 4, "text": "Anna", "labels": ["Per son"]}},
        {"id": "r3", "type": "labels", "value": {"start": 14, "end": 20, "text": "Berlin", "labels": ["Place"]}},
        {"type": "relation", "from_id": "r2", "to_id": "r3", "labels": ["lives in"]},
    ]
    task = {"id": 7, "data": {"text": "Anna lives in Berlin."}, "annotations": [{"result": results}]}
    (tmp_path / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    made = project_of(tmp_path, "export.json", "--schema", "schema.xml")
    assert made["labels"] == ["Per son", "Place", "tone", "lives in"]
    assert made["annotated"] == 1
    out = ("--to", "brat", "--which", "all", "--out", "out", "--data", "export.annotation")
    told = forked("admin", "annotation", "export", "export", *out, cwd=tmp_path)
    assert "tone without words" in told.stdout, "what brat cannot hold is said"
    (ann,) = (tmp_path / "out").glob("*.ann")
    assert "lives_in Arg1:T1 Arg2:T2" in ann.read_text()


@pytest.mark.req("R-40")
def test_a_long_tagged_file_becomes_texts_of_some_sentences(tmp_path):
    sentence = "Anna\tB-PER\nKern\tI-PER\nsings\tO\n"
    (tmp_path / "tags.conll").write_text("\n".join([sentence] * 130), encoding="utf-8")
    made = forked("annotation", "import", "tags.conll", "--from", "conll", "--out", "made", "--json", cwd=tmp_path).data
    assert (made["texts"], made["labels"]) == (7, ["PER"])
    lines = (tmp_path / "made" / "corpus" / "texts" / "part-0002.txt").read_text().splitlines()
    assert lines == ["Anna Kern sings"] * 20


@pytest.mark.req("R-40")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("texts",), "There are no labels"),
        (("texts", "--labels", "A,A"), "'A' appears twice"),
        (("texts", "--labels", "A", "--relation", "r=A:B"), "'B', which is not a label"),
        (("texts", "--labels", "A", "--schema", "evil.xml"), "declares entities or a document type"),
        (("papers", "--labels", "A"), "it holds .docx"),
        (("table.csv", "--labels", "A"), "name the column of the texts: id, body"),
        (("nothing-here", "--labels", "A"), "no such file or folder"),
    ],
)
def test_what_cannot_be_used_is_said_and_nothing_is_made(texts, tmp_path, words, told):
    (tmp_path / "evil.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><View/>', encoding="utf-8")
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one.docx").write_bytes(b"PK")
    (tmp_path / "table.csv").write_text("id,body\n1,words\n", encoding="utf-8")
    ended = forked("annotate", *words, "--no-serve", cwd=tmp_path)
    assert ended.code != 0
    assert told in ended.stderr
    assert not list(tmp_path.glob("*.annotation"))


ONTOLOGY = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ts: <urn:basanite:reading:> .
@prefix t: <urn:basanite:texts#> .
<urn:basanite:texts> a owl:Ontology .
t:Person a owl:Class ; rdfs:label "person" ; ts:mark ts:target .
"""


@pytest.mark.req("R-40")
def test_an_ontology_comes_later_and_nothing_is_lost(texts, tmp_path):
    (texts / "one.ann").write_text("T1\tPerson 0 4\tAnna\n", encoding="utf-8")
    project_of(tmp_path, "texts")
    forked("annotation", "import", "texts", "--from", "brat", "--out", "later", cwd=tmp_path)
    (tmp_path / "later" / "ontology.ttl").write_text(ONTOLOGY, encoding="utf-8")
    config = (tmp_path / "later" / "annotation.yaml").read_text().replace("version: 1", "version: 2")
    (tmp_path / "newer.yaml").write_text(config + 'assert: [{for: Person, mint: "?p", then: ["?p type Person"]}]\n')
    change = (
        "admin",
        "annotation",
        "config",
        "texts",
        "newer.yaml",
        "--package",
        "later",
        "--data",
        "texts.annotation",
    )
    shown = forked(*change, "--json", cwd=tmp_path).data
    assert shown["counts"] == {}
    plain_folder = forked(*change[:5], "--data", "texts.annotation", cwd=tmp_path)
    assert "is not a class of the ontology" in plain_folder.stderr, "the old package does not know it"
    applied = forked(*change, "--apply", shown["digest"], "--reason", "statements", "--json", cwd=tmp_path)
    assert applied.data["version"] == 2, applied.stderr
    out = ("--to", "annotations", "--which", "all", "--out", "out", "--data", "texts.annotation")
    forked("admin", "annotation", "export", "texts", *out, cwd=tmp_path)
    (line,) = (tmp_path / "out" / "annotations.ndjson").read_text().splitlines()
    assert json.loads(line)["statement"][1:] == ["rdf:type", "Person"] or "Person" in json.loads(line)["statement"][2]
