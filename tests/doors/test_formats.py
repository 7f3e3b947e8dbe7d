"""A file is what it contains: read by its content, named by its kind where a task does not read it (D-3, D-4, D-6).

The files are written by hand in the layouts that other tools write.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile

import pytest
from tests.cli.running import here

REFERENCE = {"utt1": "the cat sat", "utt2": "a dog ran"}
LINES = "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in REFERENCE.items())
TABLE = "id,text\n" + "".join(f"{name},{text}\n" for name, text in REFERENCE.items())
CTM = "rec A 0.0 0.3 the\nrec A 0.3 0.3 cat\nrec A 0.6 0.3 sat 0.98\n"
STM = ";; by hand\nrec A spk1 0.0 1.0 <o,f0,male> the cat sat\n"


@pytest.fixture
def there(tmp_path):
    (tmp_path / "reference.jsonl").write_text(LINES)
    (tmp_path / "reference.stm").write_text(STM)
    return tmp_path


def validate(there, name, content, *, task="speech", reference="reference.jsonl"):
    (there / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    given = (*(("--reference", reference) if reference else ()), "--submission", name)
    return here("validate", task, *given, cwd=there), here("validate", task, *given, "--json", cwd=there).data


def tarred(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        head = tarfile.TarInfo(name)
        head.size = len(content)
        tar.addfile(head, io.BytesIO(content.encode()))
    return buffer.getvalue()


def zipped(*names, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


GOOD = {
    "run.jsonl": LINES,
    "run": LINES,
    "run.out": LINES,
    "run.csv": TABLE,
    "run.pred": TABLE.replace(",", "\t"),
    "run.jsonl.gz": gzip.compress(LINES.encode()),
    "run.tgz": tarred("run.jsonl", LINES),
    "run.zip": zipped("run.csv", content=TABLE),
}


@pytest.mark.req("D-3")
@pytest.mark.parametrize("name", GOOD)
def test_the_content_decides_whatever_the_file_is_called(there, name):
    ended, shown = validate(there, name, GOOD[name])
    assert (ended.code, shown["valid"], shown["problems"]) == (0, True, []), ended.stderr


MISNAMED = {
    "run.json": (LINES, "JSON lines"),
    "run.txt": (TABLE, "a table"),
    "run.ctm": (LINES, "JSON lines"),
    "other.csv": (LINES, "JSON lines"),
}


@pytest.mark.req("D-4")
@pytest.mark.parametrize("name", MISNAMED)
def test_where_content_and_ending_disagree_it_is_said_what_was_read(there, name):
    content, kind = MISNAMED[name]
    ended, shown = validate(there, name, content)
    ending = name.rpartition(".")[2]
    assert (ended.code, shown["valid"]) == (0, True)
    assert f"read as {kind} although named .{ending}" in ended.stderr
    assert [(one["rule"], one["severity"]) for one in shown["problems"]] == [("D-4", "warn")]
    assert f"{name} is valid" in ended.stdout


@pytest.mark.req("D-3", "D-6")
def test_words_and_segments_with_times_are_known_without_their_endings(there):
    (there / "lvc.stm.filt").write_text(STM)
    ended, shown = validate(there, "lvc.ctm.filt", CTM, reference="lvc.stm.filt")
    assert (ended.code, shown["problems"]) == (0, [])
    scored = here("score", "speech", "--reference", "lvc.stm.filt", "--submission", "lvc.ctm.filt", "--json", cwd=there)
    assert scored.data["values"]["wer"]["value"] == 0


FOREIGN = {
    "hyp.trn": ("translation", "the cat sat (spk1-1)\na dog ran (spk1-2)\n", "TRN"),
    "csrnab.hyp": ("translation", "THE CAT SAT (4T0C0201)\nA DOG RAN (4T0C0202)\n", "TRN"),
    "text": ("translation", "utt1 the cat sat\nutt2 a dog ran\n", "Kaldi text"),
    "19.txt": ("translation", "Female-1-Female-1_22 KE SANA\nFemale-1-Female-1_27 LIBUR\n", "Kaldi text"),
    "sys.rttm": ("speech", "SPEAKER VT_2005 1 101.000 4.800 <NA> <NA> REF1 <NA>\n", "RTTM"),
    "heard.json": ("speech", '{\n "utt1": "the cat sat",\n "utt2": "a dog ran"\n}\n', "one JSON value"),
    "wmt.xml": ("speech", '<?xml version="1.0"?>\n<dataset id="x">\n <doc/>\n</dataset>\n', "WMT"),
    "sgm": ("speech", '<refset setid="x" srclang="any">\n<seg id="1">Hello</seg>\n</refset>\n', "WMT"),
    "mt.ctm": ("translation", CTM, "a CTM file"),
    "parse.conllu": ("parsing", "# text = It works\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n", "CoNLL-U"),
    "run.txt": ("classification", "1 Q0 doc3 1 12.5 bm25\n1 Q0 doc4 2 11.5 bm25\n", "a TREC run"),
    "qrels.txt": ("classification", "1 0 doc3 1\n1 0 doc4 0\n", "TREC qrels"),
    "y_pred.txt": ("labels", "0\n1\n1\n", "plain text"),
    "texts.txt": ("classification", "".join(f"sentence number {at}\n" for at in range(30)), "plain text"),
    "usual.prm": ("translation", "# usual\nDEBUG 0\nDELETE_LABEL TOP\n", "parameters of evalb"),
    "no-q0.run": ("tagging", "T1 E2 D1 1 4.3 R1\nT1 E2 D2 2 4.2 R1\n", "a TREC run"),
    "prels.txt": ("speech", "1 clueweb-3-8 0 0 1\n1 clueweb-2-7 1 1 0.5\n", "prels"),
    "prefs.txt": ("summaries", "1 j a FR940303 1\n1 j a FBIS4-398 0\n", "prefs"),
    "names.csv": ("tagging", "id,label\n0,3\n1,1\n", "a table"),
    "shown.vtt": ("speech", "WEBVTT\n\n00:01.000 --> 00:02.500\nhello\n", "subtitles"),
    "x.rules": ("captions", '(rule r1 "d" :if (?p a ?c) :then (?s b ?c))\n', "rules for reasoning"),
    "test.arpa": ("translation", "\n\\data\\\nngram 1=37\n", "an ARPA language model"),
    "ppl.out": ("translation", "file eval.text: 5290 sentences, 38238 words, 0 OOVs\n", "SRILM's ngram -ppl"),
    "query.out": ("translation", "a=4 2 -0.5\t</s>=2 1 -0.3\tTotal: -0.8 OOV: 0\n", "KenLM's query"),
    "book.xlsx": ("classification", zipped("[Content_Types].xml", "xl/workbook.xml", content="x"), "Office document"),
    "two.zip": ("speech", zipped("a.jsonl", "b.jsonl", content=LINES), "holds 2 files"),
    "answers.npy": ("labels", b"\x93NUMPY\x01\x00\x00\x00", "a NumPy array"),
}


@pytest.mark.req("D-4", "D-6")
@pytest.mark.parametrize("name", FOREIGN)
def test_another_format_is_refused_by_its_name_and_never_read_as_lines(there, name):
    task, content, kind = FOREIGN[name]
    ended, shown = validate(there, name, content, task=task, reference=None)
    assert (ended.code, shown["valid"]) == (1, False)
    (problem,) = shown["problems"]
    assert kind in problem["message"]
    assert problem["fix"]


@pytest.mark.req("D-4")
def test_a_run_of_another_task_is_told_which_task_reads_it(there):
    (there / "run.txt").write_text("1 Q0 doc3 1 12.5 bm25\n1 Q0 doc4 2 11.5 bm25\n")
    ended = here("validate", "classification", "--submission", "run.txt", cwd=there)
    assert "the task ranking reads it" in ended.stderr


@pytest.mark.req("D-4")
@pytest.mark.parametrize("text", ["I saw (it)\nYou did not\n", "2019 was good\n2020 was not\n", "1. One\n2. Two\n"])
def test_sentences_are_not_taken_for_something_else_and_the_report_says_how_they_were_paired(there, text):
    for name in ("reference.txt", "heard.txt"):
        (there / name).write_text(text)
    given = ("--reference", "reference.txt", "--submission", "heard.txt")
    assert here("validate", "speech", *given, cwd=there).code == 0
    ended = here("score", "speech", *given, "--json", cwd=there)
    assert ended.data["values"]["wer"]["value"] == 0
    assert "lines are paired by their position, since these files have no ids" in ended.data["notes"]


@pytest.mark.req("D-3", "D-6")
def test_captions_are_told_by_content_as_coco_or_as_lines(there):
    coco = {"annotations": [{"image_id": 1, "caption": "a cat"}, {"image_id": 2, "caption": "a dog"}]}
    (there / "people").write_text(json.dumps(coco))
    for name, content in {
        "results": '[{"image_id": 1, "caption": "a cat"}, {"image_id": 2, "caption": "a dog"}]',
        "lines": '{"id": 1, "text": "a cat"}\n{"id": 2, "text": "a dog"}\n',
        "results.zip": zipped("r.json", content='[{"image_id": 1, "caption": "x"}, {"image_id": 2, "caption": "y"}]'),
    }.items():
        ended, shown = validate(there, name, content, task="captions", reference="people")
        assert (ended.code, shown["problems"]) == (0, []), (name, ended.stderr)


@pytest.mark.req("D-4")
@pytest.mark.parametrize(
    "content",
    [b"\x1f\x8b\x08\x00garbage", b"PK\x03\x04garbage", gzip.compress(LINES.encode())[:-9], b"\xff\xfea\x00b\x00"],
    ids=["gzip", "zip", "cut off", "UTF-16"],
)
def test_a_broken_archive_or_other_encoding_is_one_problem_with_a_cure(there, content):
    ended, shown = validate(there, "run.gz", content)
    assert (ended.code, shown["valid"]) == (1, False)
    assert all(one["fix"] for one in shown["problems"])
    assert "Traceback" not in ended.stderr
