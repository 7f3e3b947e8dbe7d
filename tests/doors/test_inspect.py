"""`basanite inspect`: what a file is, how many items it holds, what takes it; nothing in a file stops it (T-12)."""

from __future__ import annotations

import gzip
import io
import os
import random
import shlex
import sys
import tarfile
import zipfile

import click
import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK, EXAMPLES
from tests.doors.test_formats import FOREIGN, GOOD, tarred, zipped

from basanite.cli import app
from basanite.formats.file_kinds import KINDS
from basanite.formats.kinds.tables import LAYOUTS


def inspected(path, cwd=None):
    ended = here("inspect", path, "--json", cwd=cwd or EXAMPLES)
    assert ended.code == 0, ended.stderr
    (found,) = ended.data["files"]
    return found


ITEMS = {
    "captions": ("COCO captions", 40, "caption"),
    "classification": ("a table (labels of items)", 150, "item"),
    "clir": ("a submission of decisions (clir, domainid, langid)", 20, "file"),
    "e2e": ("a submission of summaries (e2e)", 64, "file"),
    "labels": ("a table (columns of items)", 120, "item"),
    "lm": ("JSON lines (log-probabilities)", 60, "sentence"),
    "parsing": ("bracketed trees", 60, "tree"),
    "judged": ("JSON lines (texts of items)", 300, "item"),
    "questions": ("results of VQA", 60, "answer"),
    "ranking": ("a TREC run", 480, "ranked document"),
    "readability": ("a table (ratings of passages)", 60, "passage"),
    "reading": ("JSON lines (answers to reading tasks)", 250, "answer"),
    "relevance": ("a table (texts of items)", 36, "item"),
    "representation": ("NumPy arrays", 3, "array"),
    "scores": ("a table (scores of items)", 200, "trial"),
    "speech": ("a CTM file", 1090, "word"),
    "summaries": ("JSON lines (texts of items)", 40, "item"),
    "translation": ("JSON lines (texts of items)", 120, "item"),
}


@pytest.mark.req("T-12")
@pytest.mark.parametrize("task", BY_TASK)
def test_the_submission_of_every_task_is_known_with_the_command_that_scores_it(task):
    path = BY_TASK[task].path(task, BY_TASK[task].submission)
    found = inspected(path)
    if task in ITEMS:
        kind, count, record = ITEMS[task]
        assert (found["kind"], found["items"]) == (kind, {"record": record, "count": count})
    scored = [shlex.split(line) for line in found["commands"]]
    assert ["basanite", "score", task] in [words[:3] for words in scored]
    assert all(str(path) in words for words in scored)


WRITTEN = {
    "a.trn": ("the cat sat (spk1-1)\na dog ran (spk1-2)\n", "TRN (an id in parentheses ends each line)", 2),
    "tree.mrg": ("( (S\n  (NP (DT the))\n  (VP (VBD sat)) ))\n( (S (NP (PRP it)) ))\n", "bracketed trees", 2),
    "qrels": ("# by hand\n1 0 d1 1\n1 0 d2 0\n", "TREC qrels", 2),
    "cacm": ("1 Q0 d1 1\n1 Q0 d2 1\n", "TREC qrels", 2),
    "more.run": ("1 Q0 d1 1 2.5 tag and more\n", "a TREC run", 1),
    "beir.tsv": ("query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t1\n", "BEIR qrels", 2),
    "mt.sgm": ('<refset setid="x">\n<seg id="1">A</seg>\n</refset>\n', "a test set of WMT in XML or SGM", 1),
    "x.arpa": ("\\data\\\nngram 1=3\nngram 2=4\n", "an ARPA language model", 7),
    "ls.json": ('{"id": 1, "data": {"text": "x"}, "annotations": []}\n', "an export of Label Studio", 1),
    "mqm.tsv": ("system\tdoc\tdoc_id\nA\td\t1\nB\td\t1\n", "a table of MQM", 2),
    "graph.ttl": ("@prefix ex: <http://example.org/> .\nex:a ex:b ex:c .\n", "RDF statements", 2),
    "vqa.json": ('{"annotations": [{"question_id": 1, "answers": []}]}', "annotations of VQA", 1),
    "asked.json": ('{"questions": [{"question_id": 1, "question": "?"}]}', "questions of VQA", 1),
    "dev.json": ('{"data": [{"paragraphs": [{"qas": [{"id": "1", "question": "?"}]}]}]}', "a data set of SQuAD", 1),
    "pred.json": ('{"56be4db0acb8001400a502ec": "x"}', "predictions for SQuAD", 1),
    "key.csv": ("id,answer\n1,A\n2,B\n", "a table (questions with answers)", 2),
    "ours.run": ("q1 x d1 1 2.5 r\nq1 x d2 2 1.5 r\nq2 x d1 1 2.0 r\n", "a TREC run", 3),
    "x.prels": ("1 d1-a 1 0 0.5\n1 d2-a -1 1 1\n", "judgments with the probability of each in the sample (prels)", 2),
    "prefs": ("1 j1 a FR-1 1\n1 j1 a FB-2 0\n", "preferences of several judges (prefs)", 2),
    "x.prm": ("# usual\nDEBUG 0\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n", "parameters of evalb", 3),
    "x.glm": (";; NIST\n* name 'x'\n\n[gonna] => [going to] / [ ] __ [ ]\n", "a mapping of words (GLM)", 1),
    "x.rules": ('(rule r1 "domain" :if (?p a ?c) :then (?s b ?c))\n', "rules for reasoning", 1),
    "x.yaml": ("annotation: x\nversion: 1\ncategories:\n  A: {mention: span}\n", "an annotation configuration", 4),
    "x.srt": ("1\n00:00:01,000 --> 00:00:02,500\nhello\n", "subtitles (SubRip or WebVTT)", 1),
    "x.TextGrid": ('File type = "ooTextFile"\nObject class = "TextGrid"\n', "a TextGrid of Praat", 2),
    "amazon.json": ('{"reviewText": "good", "overall": 5.0, "asin": "B0"}\n', "JSON lines (reviews)", 1),
    "air.csv": ("ReviewID,ReviewBody,ValueForMoney\n1,good,5\n", "a table (reviews)", 1),
    "names.txt": ("doc_1\ndoc_2\n", "plain text", 2),
    "quoted.csv": ('id,label\n1,"a\nb"\n2,c\n', "a table (labels of items)", 2),
}  # fmt: skip


@pytest.mark.req("T-12", "D-6")
@pytest.mark.parametrize("name", WRITTEN)
def test_files_of_other_tools_are_told_by_their_content_and_counted(name, tmp_path):
    content, kind, count = WRITTEN[name]
    (tmp_path / "f").write_text(content)
    (tmp_path / "f.gz").write_bytes(gzip.compress(content.encode()))
    for path, packed in (("f", ""), ("f.gz", "gzip")):
        found = inspected(path, tmp_path)
        assert (found["kind"], found["items"]["count"], found["packed"]) == (kind, count, packed)


@pytest.mark.req("T-12")
@pytest.mark.parametrize("name", FOREIGN)
def test_what_a_task_refuses_is_named_and_told_where_to_give_it(name, tmp_path):
    content = FOREIGN[name][1]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    found = inspected(name, tmp_path)
    assert FOREIGN[name][2].removeprefix("holds 2 files") in f"{found['kind']} {found['fix']} {found['notes']}"
    assert found["commands"] or found["fix"] or "archive" in found["kind"] or "NumPy" in found["kind"]


@pytest.mark.req("T-12")
@pytest.mark.parametrize("name", GOOD)
def test_one_file_alone_in_an_archive_is_told_as_that_file(name, tmp_path):
    content = GOOD[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert inspected(name, tmp_path)["items"] == {"record": "item", "count": 2}


def many(names):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    return buffer.getvalue()


def bomb():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"\0" * 80_000_000)
    return buffer.getvalue()


HOSTILE = {
    "nothing": b"",
    "noise": random.Random(1).randbytes(5000),
    "NULs": b"\0" * 5000,
    "deep JSON": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a number of thousands of digits": b"[" + b"9" * 10_000 + b"]",
    "broken UTF-8": b"id,text\n1,caf\xe9\n",
    "deep brackets": b"(S " * 50_000 + b"(NN x)" + b")" * 50_000,
    "no end of a quote": b'id,label\n1,"a\n',
    "broken gzip": b"\x1f\x8b\x08\x00garbage",
    "cut gzip": gzip.compress(b"id,label\n" * 1000)[:-9],
    "broken zip": b"PK\x03\x04garbage",
    "a bomb": bomb(),
    "names that climb": many(["../../etc/passwd", "/etc/shadow", "a.tsv"]),
    "no UTF-8 names": tarred("caf\udce9.tsv", "D\tY\n"),
    "broken Parquet": b"PAR1" + b"\xff" * 100 + b"PAR1",
    "a terminal's escape": b"id,\x1b[31mlabel\n1,a\n",
    "one long line": b"a b " * 500_000,
    "an office document": zipped("[Content_Types].xml", "xl/workbook.xml", content="x"),
}


@pytest.mark.req("T-12")
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_file_stops_it_or_acts_on_the_terminal(name, tmp_path):
    (tmp_path / "f").write_bytes(HOSTILE[name])
    ended = here("inspect", "f", cwd=tmp_path)
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.startswith("f: ")
    assert "\x1b" not in ended.stdout
    assert inspected("f", tmp_path)["kind"]


@pytest.mark.req("T-12")
def test_folders_are_told_by_what_is_in_them(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "mixed" / "below").mkdir(parents=True)
    (tmp_path / "mixed" / "a.trn").write_text("the cat (s-1)\na dog (s-2)\n")
    (tmp_path / "mixed" / "below" / "b.csv").write_text("id,label\n1,a\n")
    (tmp_path / "mixed" / "loop").symlink_to("..")
    assert inspected("empty", tmp_path)["notes"] == ["it holds no file"]
    mixed = inspected("mixed", tmp_path)
    assert mixed["items"] == {"record": "file", "count": 2}
    assert mixed["members"] == {"TRN (an id in parentheses ends each line)": 1, "a table": 1}
    assert inspected(EXAMPLES / "reading" / "nfl")["kind"] == "a reading package"
    assert inspected(EXAMPLES / "annotation" / "brat")["kind"] == "a folder of brat"


@pytest.mark.req("T-12")
def test_what_is_not_there_or_is_a_pipe_is_misuse(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("nothing", "pipe"):
        ended = here("inspect", name, cwd=tmp_path)
        assert (ended.code, name in ended.stderr) == (2, True)


@pytest.mark.req("T-12")
def test_every_line_to_type_names_a_command_and_options_that_there_are():
    top = click.Context(app)
    for line in {line for one in (*KINDS, *LAYOUTS) for line in one.commands}:
        words = shlex.split(line)
        command = app
        while isinstance(command, click.Group):
            command = command.get_command(top, words.pop(0))
            assert command is not None, line
        known = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, line
        assert "{path}" in line


PACKED = {
    "mqm.tsv": "judging/mqm.tsv",
    "appraise.csv": "judging/appraise.csv",
    "newstest.xml": "import/newstest.xml",
    "sacrebleu.json": "import/sacrebleu.json",
}


@pytest.mark.req("T-12")
@pytest.mark.parametrize("name", PACKED)
def test_the_command_that_is_named_for_a_packed_file_reads_it_packed(name, tmp_path):
    (tmp_path / "f.gz").write_bytes(gzip.compress((EXAMPLES / PACKED[name]).read_bytes()))
    line = inspected("f.gz", tmp_path)["commands"][-1]
    words = [word.replace("FOLDER", "out").replace("RESULT.json", "out.json") for word in shlex.split(line)[1:]]
    ended = here(*words, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    (tmp_path / "f.gz").write_bytes(b"\x1f\x8bgarbage")
    broken = here(*words, cwd=tmp_path)
    assert (broken.code, "f.gz cannot be read" in broken.stderr) == (2, True)


@pytest.mark.req("T-12", "P-32")
@pytest.mark.parametrize(
    ("content", "said", "typed"),
    [
        ('[{"image_id": 1, "caption": "a dog"}]', "COCO captions", "basanite score captions f SUBMISSION"),
        ("the cat (s-1)\na dog (s-2)\n", "TRN", "basanite score speech f HYP.trn"),
        ('[{"data": {}, "annotations": []}]', "an export of Label Studio", "annotation import f --from label-studio"),
        ('{"data": {}, "annotations": []}', "an export of Label Studio", "annotation import f --from label-studio"),
    ],
)
def test_import_names_the_format_of_a_file_of_another_tool_and_the_command(content, said, typed, tmp_path):
    (tmp_path / "f").write_text(content)
    ended = here("import", "f", "--data", "season", cwd=tmp_path)
    assert ended.code == 2
    assert said in ended.stderr
    assert typed in ended.stderr
    assert not (tmp_path / "season").exists()


@pytest.mark.req("T-12", "T-29")
def test_standard_input_is_told_as_a_dash(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 Q0 d1 1 2.5 t\n")))
    (found,) = here("inspect", "-", "--json", cwd=EXAMPLES).data["files"]
    assert (found["file"], found["kind"], found["commands"][0]) == ("-", "a TREC run", "basanite score ranking QRELS -")
