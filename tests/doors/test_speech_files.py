"""Files of speech as sclite's and Kaldi's users have them, by the command: numbers are those of sclite (T-14)."""

from __future__ import annotations

import json
import random

import jiwer
import pytest
from tests.cli.running import here
from tests.doors.sclite import counted, drawn

REFERENCE = """;; by hand
THE { CAT / CATS } SAT (ann-01)
{ well { now / @ } / so } it (uh) rains (ann-02)
(um) one two three (bob-01)
yes (bob-02)
"""
HEARD = """the cats sat down (ANN-01)
it rains (ANN-02)
one { to / two } tree (bob-01)
 (bob-02)
"""
STM = """;; CATEGORY "0" "" ""
talk a Ann 0.0 2.0 <O> we { are / 're } here
talk b Bob 1.0 3.0 <O> (uh) hello
"""
CTM = """talk A 0.2 0.3 WE
talk A 0.6 0.3 'RE
talk A * * <ALT_BEGIN>
talk A 1.0 0.3 hair
talk A * * <ALT>
talk A 1.0 0.3 here
talk A * * <ALT_END>
talk B 1.5 0.4 hello
"""
KALDI = "ann_1 the cat sat\nann_2 a dog ran\nbob_1 yes\n"


@pytest.fixture
def there(tmp_path):
    files = {"ref.trn": REFERENCE, "hyp.trn": HEARD, "r.stm.filt": STM, "h.ctm.filt": CTM, "text": KALDI}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def score(folder, reference, submission, *more):
    files = ("--reference", reference, "--submission", submission)
    ended = here("score", "speech", *files, "--draws", "20", "--json", *more, cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data


def parts(found):
    return found["values"]["wer"]["parts"]


def refusal(folder, reference, submission, *more):
    ended = here(
        "validate", "speech", "--reference", reference, "--submission", submission, "--json", *more, cwd=folder
    )
    assert ended.code == 1
    return ended.data["problems"]


# sclite 2.10, -i spu_id: correct, substituted, deleted, inserted, utterances with an error
SCLITE = {"as_written": (7, 1, 4, 1, 4), "correct": (9, 1, 2, 1, 4)}


@pytest.mark.req("T-14", "D-3", "D-6")
@pytest.mark.parametrize("optional", SCLITE)
def test_trn_is_scored_by_id_as_sclite_does_without_and_with_d(there, optional):
    more = () if optional == "as_written" else ("--set", f"optional={optional}")
    found = score(there, "ref.trn", "hyp.trn", *more)
    hits, substitutions, deletions, insertions, wrong = SCLITE[optional]
    assert parts(found) == {
        "hits": hits,
        "substitutions": substitutions,
        "deletions": deletions,
        "insertions": insertions,
        "reference_words": hits + substitutions + deletions,
    }
    assert found["values"]["ser"]["value"] == wrong / 4
    assert f"aligned:sclite,ascii,{optional}" in found["values"]["wer"]["signature"]
    assert not any("paired by their position" in note for note in found["notes"])


@pytest.mark.req("T-14")
def test_edits_are_counted_for_each_speaker(there):
    files = ("--reference", "ref.trn", "--submission", "hyp.trn")
    found = score(there, "ref.trn", "hyp.trn")
    assert found["breakdowns"]["speaker"]["ann"]["wer"]["value"] == pytest.approx(3 / 7)
    ended = here("score", "speech", *files, "--report", "all.txt", "--report", "all.html", cwd=there)
    assert ended.code == 0, ended.stderr
    rows = [line.split() for line in (there / "all.txt").read_text().splitlines()]
    # utterances, words, hits, substituted, deleted, inserted, all
    assert ["ann", "2", "7", "5", "0", "2", "1", "3", "0.4286", "1.0000"] in rows
    assert ["bob", "2", "5", "2", "1", "2", "0", "3", "0.6000", "1.0000"] in rows


@pytest.mark.req("T-14")
def test_words_stand_under_words_in_text_and_page(there):
    files = ("--reference", "ref.trn", "--submission", "hyp.trn")
    here("score", "speech", *files, "--report", "all.txt", "--report", "all.html", cwd=there)
    text, page = (there / "all.txt").read_text(), (there / "all.html").read_text()
    assert "  REF:  the cats sat ****\n  HYP:  the cats sat DOWN\n  Eval:              I" in text
    assert '<dl class="columns">' in page
    assert "the cats sat DOWN" in page
    here("score", "speech", *files, "--report", "none.txt", "--set", "alignments=0", cwd=there)
    assert "REF:" not in (there / "none.txt").read_text()


@pytest.mark.req("T-14", "D-3")
def test_timed_words_with_alternatives_meet_segments_in_other_letters_whatever_the_files_are_called(there):
    found = score(there, "r.stm.filt", "h.ctm.filt")
    assert parts(found) == {"hits": 4, "substitutions": 0, "deletions": 1, "insertions": 0, "reference_words": 5}
    assert parts(score(there, "r.stm.filt", "h.ctm.filt", "--set", "optional=correct"))["deletions"] == 0
    plain = score(there, "r.stm.filt", "h.ctm.filt", "--set", "rules=fewest", "--set", "case=unicode")
    assert parts(plain)["reference_words"] == 4  # what may be left out is not said then


@pytest.mark.req("T-14", "D-6")
def test_kaldis_text_is_scored_by_id_with_the_fewest_edits_and_letters_as_they_are(there):
    (there / "hyp").write_text("bob_1 Yes\nann_2 a dog run fast\nann_1 the cat sat \n")
    found = score(there, "text", "hyp")
    said = ["the cat sat", "a dog ran", "yes"]
    peer = jiwer.process_words(said, ["the cat sat", "a dog run fast", "Yes"])
    values = {name: value["value"] for name, value in found["values"].items()}
    for name in ("wer", "mer", "wil", "wip"):
        assert values[name] == pytest.approx(getattr(peer, name)), name
    assert values["ser"] == pytest.approx(2 / 3)
    assert values["cer"] == pytest.approx(jiwer.cer(said, ["the cat sat", "a dog run fast", "Yes"]))


@pytest.mark.req("T-14")
@pytest.mark.parametrize("name", ["hyp.jsonl", "hyp.csv"])
def test_a_trn_reference_takes_other_files_with_the_same_ids(there, name):
    texts = {"ann-01": "the cats sat", "ann-02": "so it (uh) rains", "bob-01": "(um) one two three", "bob-02": "Yes"}
    rows = [{"id": key, "text": text} for key, text in texts.items()]
    table = "id,text\n" + "".join(f"{key},{text}\n" for key, text in texts.items())
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (there / name).write_text(lines if name.endswith("jsonl") else table)
    assert score(there, "ref.trn", name)["values"]["wer"]["value"] == 0


GLM = """;; by hand
* name "by-hand.glm"
* desc "for tests"
* copy_no_hit = 'T'
UH => %HESITATION / [ ] __ [ ]
UM => %HESITATION / [ ] __ [ ]
AIR LINE => AIRLINE
;; INPUT_DEPENDENT_APPLICATION = "ctm"
[HE'S] => [{HE IS / HE HAS}] / [ ] __ [ ]
"""


@pytest.mark.req("T-14")
def test_a_global_mapping_file_of_nist_is_followed_with_contexts_alternatives_and_sides(there):
    (there / "rules.glm").write_text(GLM)
    (there / "r.trn").write_text("he has (um) an airline (x-1)\nhe's umber (x-2)\n")
    (there / "h.trn").write_text("he's uh an air line (x-1)\nhe's umber (x-2)\n")
    found = score(there, "r.trn", "h.trn", "--set", "mapping=rules.glm", "--set", "optional=correct")
    # x-1 is all right; in x-2 only what was heard is written out, so that two words stand beside one
    assert parts(found) == {"hits": 6, "substitutions": 1, "deletions": 0, "insertions": 1, "reference_words": 7}
    (there / "bad.glm").write_text(GLM + "NO ARROW\n")
    (problem,) = refusal(there, "r.trn", "h.trn", "--set", "mapping=bad.glm")
    assert (problem["file"], problem["line"]) == ("bad.glm", 10)


@pytest.mark.req("T-14")
@pytest.mark.parametrize(("choice", "optional", "options"), [(0, 0, ()), (0.25, 0, ()), (0.2, 0.2, ("-D",))])
def test_counts_are_those_of_sclite_on_drawn_transcripts(tmp_path, choice, optional, options):
    rng = random.Random(f"{choice}{optional}")
    for name, share in (("r.trn", choice), ("h.trn", 0)):
        lines = (f"{drawn(rng, choice=share, optional=optional)} (s{at % 7}-{at})\n" for at in range(300))
        (tmp_path / name).write_text("".join(lines))
    peer = counted(tmp_path, "-r", "r.trn", "trn", "-h", "h.trn", "trn", "-i", "spu_id", *options)
    found = score(tmp_path, "r.trn", "h.trn", *(("--set", "optional=correct") if options else ()))
    assert {name: peer[name] for name in parts(found)} == parts(found)
    assert found["values"]["ser"]["value"] == pytest.approx(peer["wrong"] / peer["utterances"])


@pytest.mark.req("T-14")
def test_fragments_and_capitals_are_as_sclites_f_and_s(tmp_path):
    (tmp_path / "r.trn").write_text("The wor- -ing end (a-1)\nA plain word (a-2)\n")
    (tmp_path / "h.trn").write_text("the words going End (a-1)\na plain word (a-2)\n")
    files = ("-r", "r.trn", "trn", "-h", "h.trn", "trn", "-i", "spu_id")
    for options, chosen in ((("-F",), "fragments=yes"), (("-s",), "case=keep")):
        peer = counted(tmp_path, *files, *options)
        found = parts(score(tmp_path, "r.trn", "h.trn", "--set", chosen))
        assert found == {name: peer[name] for name in found}


@pytest.mark.req("T-14")
def test_a_comparison_has_the_test_of_nist_beside_ours(there):
    (there / "two.trn").write_text("cat (ann-01)\nwell it uh (ann-02)\nfour (bob-01)\nyes (bob-02)\n")
    ended = here(
        *("compare", "speech", "--reference", "ref.trn", "--draws", "20"),
        *("--submission", "one=hyp.trn", "--submission", "two=two.trn"),
        cwd=there,
    )
    assert ended.code == 0, ended.stderr
    table = ended.stdout.partition("(MAPSSWE)")[2]
    row = next(line.split() for line in table.splitlines() if line.split()[:2] == ["one", "two"])
    # sc_stats -p -t mapsswe -v: 4 segments, mean -0.500, Z -0.775
    assert row[2:5] == ["4", "-0.5000", "-0.7746"]


REFUSED = {
    "sys.rttm": ("SPEAKER VT_2005 1 101.000 4.800 <NA> <NA> REF1 <NA>\n", "RTTM"),
    "heard.stm": (STM, "an STM file"),
    "heard.json": ('[{"id": "ann-01", "text": "a"}]', "one JSON value"),
    "parsed.txt": ("(S (NP (PRP It)) (VP (VBZ rains)))\n", "bracketed trees"),
}


@pytest.mark.req("T-14", "D-4", "D-6")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_transcript_is_refused_by_its_name_in_one_problem(there, name):
    content, kind = REFUSED[name]
    (there / name).write_text(content)
    (problem,) = refusal(there, "ref.trn", name)
    assert kind in problem["message"]
    assert problem["fix"]


@pytest.mark.req("T-14", "D-4", "D-7")
def test_a_faulty_line_of_trn_is_named_and_never_read_as_words(there):
    lines = [f"word {at} (s-{at})" for at in range(20)]
    (there / "r.trn").write_text("\n".join(lines) + "\n")
    for fault, line, words in (
        ("word 3 s-3", 4, "no id in parentheses"),
        ("word { a / b (s-3)", 4, "never closed"),
        ("word 3 (s-2)", 4, "appears twice"),
    ):
        (there / "h.trn.out").write_text("\n".join([*lines[:3], fault, *lines[4:]]) + "\n")
        first = refusal(there, "r.trn", "h.trn.out")[0]
        assert (first["line"], words in first["message"]) == (line, True), first


@pytest.mark.req("T-14", "D-7")
def test_a_file_of_other_utterances_is_one_problem(there):
    (problem,) = refusal(there, "ref.trn", "text")
    assert "is this the right data set?" in problem["message"]
