"""`convert` brings in what other programs wrote, takes ours out to them, and says what it could not keep (P-32)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import ANNOTATION, IMPORT, JUDGING, ROOT, SPEECH, here

from basanite.formats.foreign_files import recognize_file

RANKING = ROOT / "examples" / "ranking"
TRANSLATION = ROOT / "examples" / "translation"
QUICK = ("--draws", "20", "--json")


def values(*words: str | Path, cwd: Path) -> dict[str, float]:
    return {name: one["value"] for name, one in here("score", *words, *QUICK, cwd=cwd).data["values"].items()}


@pytest.mark.req("P-32", case="good")
def test_a_test_set_of_wmt_can_be_scored_and_goes_back_as_it_was(tmp_path):
    assert here("convert", "wmt", IMPORT / "newstest.xml", "--out", "a", cwd=tmp_path).code == 0
    systems = [("--submission", f"a/systems/{name}.jsonl") for name in ("Alpha", "Beta")]
    found = [values("translation", "--reference", "a/reference.jsonl", *one, cwd=tmp_path)["bleu"] for one in systems]
    assert found[0] > found[1] > 0
    both = [word for one in systems for word in one]
    words = ("to-wmt", "a/source.jsonl", "--reference", "a/reference.jsonl", *both, "--out", "again.xml")
    assert here("convert", *words, cwd=tmp_path).code == 0
    wanted = (IMPORT / "newstest.xml").read_text().replace(' reviewed="yes"', "")
    assert (tmp_path / "again.xml").read_text().split() == wanted.split()


@pytest.mark.req("P-32", case="good")
def test_timed_transcripts_that_went_through_records_score_the_same(tmp_path):
    spoken, heard = SPEECH / "reference.stm", SPEECH / "Alpha.ctm"
    for words in (
        ("stm", spoken, "--out", "r.jsonl"),
        ("ctm", heard, "--reference", spoken, "--out", "h.jsonl"),
        ("to-stm", "r.jsonl", "--out", "r.stm"),
        ("to-ctm", "h.jsonl", "--out", "h.ctm"),
    ):
        assert here("convert", *words, cwd=tmp_path).code == 0
    fewest = ("--set", "rules=fewest")
    before = values("speech", "--reference", spoken, "--submission", heard, *fewest, cwd=tmp_path)
    assert values("speech", "--reference", "r.stm", "--submission", "h.ctm", *fewest, cwd=tmp_path) == before
    plain = values("speech", "--reference", "r.jsonl", "--submission", "h.jsonl", cwd=tmp_path)
    assert plain["wer"] > before["wer"]  # the readings that were told as not kept


@pytest.mark.req("P-32", case="good")
@pytest.mark.parametrize(
    ("kind", "file", "task", "digits"),
    [("trec-eval", "trec_eval.txt", "ranking", 4), ("sacrebleu", "sacrebleu.json", "translation", 6)],
    ids=["trec_eval", "sacreBLEU"],
)
def test_what_other_programs_computed_stands_beside_what_we_compute_and_is_the_same(tmp_path, kind, file, task, digits):
    truth = RANKING / "qrels.txt" if task == "ranking" else TRANSLATION / "reference.jsonl"
    answers = RANKING / "alpha.run" if task == "ranking" else TRANSLATION / "Alpha.jsonl"
    assert here("convert", kind, IMPORT / file, "--out", "theirs.json", cwd=tmp_path).code == 0
    ours = here("score", task, "--reference", truth, "--submission", answers, *QUICK).stdout
    (tmp_path / "ours.json").write_text(ours)
    words = ("compare", "--result", "theirs.json", "--result", "ours.json")
    refused = here(*words, cwd=tmp_path)
    assert (refused.code, "against Basanite" in refused.stderr) == (2, True)
    shown = here(*words, "--force", "--json", cwd=tmp_path).data
    assert len(shown["differences"]) >= 3
    assert all(abs(one["difference"]) < 0.6 * 10**-digits for one in shown["differences"])
    assert shown["values"]["theirs"][shown["differences"][0]["metric"]]["flags"][0].startswith("as ")


@pytest.mark.req("P-32", case="good")
def test_a_result_of_ours_is_printed_as_other_programs_print_theirs(tmp_path):
    ours = here("score", "ranking", "--reference", RANKING / "qrels.txt", "--submission", RANKING / "alpha.run", *QUICK)
    (tmp_path / "ours.json").write_text(ours.stdout)
    ended = here("convert", "to-trec-eval", "ours.json", "--out", "ours.txt", cwd=tmp_path)
    assert (ended.code, "not kept, 9 times: intervals" in ended.stderr) == (0, True)
    theirs = [line.split() for line in (IMPORT / "trec_eval.txt").read_text().splitlines() if "\tall\t" in line]
    printed = dict(line.split("\tall\t") for line in (tmp_path / "ours.txt").read_text().splitlines())
    shared = {name.strip(): number for name, number in printed.items()}
    assert {name: number for name, _, number in theirs if name in shared} == {
        name: shared[name] for name, _, _ in theirs if name in shared
    }
    assert len(shared.keys() & {name for name, *_ in theirs}) >= 7


@pytest.mark.req("P-32", "X-14", case="bad")
def test_names_of_strangers_neither_act_nor_hide(tmp_path):
    name = "=cmd()\u202e\x1b[31m"
    (tmp_path / "x.json").write_text(json.dumps({"name": "BLEU", "score": 1.0, "signature": "a:b", name: "x"}))
    ended = here("convert", "sacrebleu", "x.json", "--out", "y.json", cwd=tmp_path)
    assert (ended.code, "\\u202e" in ended.stderr, "\x1b" in ended.stderr) == (0, True, False)
    xml = '<dataset id="x"><doc id="d"><src lang="en"><p><seg id="1">a</seg></p></src>{}</doc></dataset>'
    system = "../../" + "\u202e"
    hyp = f'<hyp lang="de" system="{system}"><p><seg id="1">b</seg></p></hyp>'
    (tmp_path / "x.xml").write_text(xml.format(hyp), encoding="utf-8")
    assert here("convert", "wmt", "x.xml", "--out", "deep", cwd=tmp_path).code == 0
    assert [path.name for path in (tmp_path / "deep" / "systems").iterdir()] == ["%2E%2E%2F%2E%2E%2F%E2%80%AE.jsonl"]


BROKEN = {
    "wmt": ("<dataset>", ()),
    "to-wmt": ('{"id": "1"}\n', ()),
    "stm": ("r A s 0\n", ()),
    "to-stm": ('{"id": "1", "references": ["a"]}\n', ()),
    "ctm": ("r A 0\n", ("--reference", SPEECH / "reference.stm")),
    "to-ctm": ('{"id": "1", "text": "a"}\n', ()),
    "trec-eval": ("map\n", ()),
    "sacrebleu": ("{", ()),
}


@pytest.mark.req("P-32", "P-3", case="bad")
@pytest.mark.parametrize("kind", BROKEN)
def test_files_with_mistakes_are_listed_and_nothing_is_written(tmp_path, kind):
    text, more = BROKEN[kind]
    name = "x.jsonl" if kind.startswith("to-") else "x.txt"
    (tmp_path / name).write_text(text)
    ended = here("convert", kind, name, *more, "--out", "out", "--json", cwd=tmp_path)
    assert (ended.code, ended.data["valid"], ended.data["written"]) == (1, False, None)
    assert all(problem["fix"] for problem in ended.data["problems"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.req("P-3", case="bad")
@pytest.mark.parametrize("kind", [*BROKEN, "to-trec-eval", "to-sacrebleu"])
def test_what_is_not_there_is_told_and_what_is_there_is_not_written_over(tmp_path, kind):
    more = BROKEN.get(kind, ("", ()))[1]
    ended = here("convert", kind, "nothing", *more, "--out", "out", cwd=tmp_path)
    assert (ended.code, ended.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert "nothing cannot be read" in ended.stderr


def test_a_file_that_is_there_stays_as_it_is(tmp_path):
    (tmp_path / "there").write_text("mine")
    for kind, file in (("wmt", "newstest.xml"), ("trec-eval", "trec_eval.txt"), ("sacrebleu", "sacrebleu.json")):
        ended = here("convert", kind, IMPORT / file, "--out", "there", cwd=tmp_path)
        assert (ended.code, "existing files are never overwritten" in ended.stderr) == (2, True)
    assert (tmp_path / "there").read_text() == "mine"


KNOWN = {
    "wmt": (IMPORT / "newstest.xml", "convert wmt"),
    "trec_eval": (IMPORT / "trec_eval.txt", "convert trec-eval"),
    "sacrebleu": (IMPORT / "sacrebleu.json", "convert sacrebleu"),
    "stm": (SPEECH / "reference.stm", "convert stm"),
    "ctm": (SPEECH / "Alpha.ctm", "convert ctm"),
    "run": (RANKING / "alpha.run", "convert run"),
    "qrels": (RANKING / "qrels.txt", "convert qrels"),
    "appraise": (JUDGING / "appraise.csv", "judge systems"),
    "mqm": (JUDGING / "mqm.tsv", "judge systems"),
    "brat": (ANNOTATION / "brat", "annotation import"),
}


@pytest.mark.req("P-32")
@pytest.mark.parametrize(("path", "command"), KNOWN.values(), ids=KNOWN)
def test_import_names_the_command_for_a_file_of_another_program_and_it_exists(path, command, tmp_path):
    ended = here("import", path, "--data", tmp_path / "none")
    assert (ended.code, f"Read it with: basanite {command} " in ended.stderr) == (2, True)
    assert not (tmp_path / "none").exists()
    assert here(*command.split(), "--help").code == 0


def test_label_studio_and_our_own_results_are_known_and_other_files_are_not(tmp_path):
    (tmp_path / "l.json").write_text('[{"id": 1, "data": {"text": "x"}, "annotations": []}]')
    (tmp_path / "r.json").write_text('{"breakdowns": {}, "format": "basanite-result/1"}')
    assert "--from label-studio" in recognize_file(tmp_path / "l.json")[1][0]
    assert "compare --result" in recognize_file(tmp_path / "r.json")[1][0]
    (tmp_path / "da.csv").write_text(
        "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
    )
    assert "judge systems" in recognize_file(tmp_path / "da.csv")[1][0]
    for name, data in {"a": b"", "b": b"\0\0", "c": b"some words\n", "d.csv": b"a,b\n"}.items():
        (tmp_path / name).write_bytes(data)
        assert recognize_file(tmp_path / name) is None
    assert recognize_file(tmp_path / "absent") is None
