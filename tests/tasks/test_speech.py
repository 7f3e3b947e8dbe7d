"""The speech task from files to values: formats, channels, background, normalisers, clusters and signatures."""

import json
import math
from pathlib import Path

import pytest

import basanite
from basanite import registry
from basanite.errors import InvalidInputError, SettingError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "speech"


def lines(path, *objects):
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects), encoding="utf-8")
    return path


def plain(path, *texts):
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def score(tmp_path, truth, answers, **settings):
    reference = lines(tmp_path / "r.jsonl", *({"id": name, **one} for name, one in truth.items()))
    submission = lines(tmp_path / "s.jsonl", *({"id": name, "text": text} for name, text in answers.items()))
    return basanite.score("speech", reference=reference, submission=submission, draws=50, **settings)


def problems(error):
    return [(problem.rule, problem.line) for problem in error.value.findings.problems]


@pytest.mark.req("T-6")
def test_a_value_comes_with_its_alignment_counts(tmp_path):
    found = score(tmp_path, {"1": {"references": ["a b c d"]}}, {"1": "a x c d e"}).values["wer"]
    assert found.value == 0.5
    wanted = {"hits": 3, "substitutions": 1, "deletions": 0, "insertions": 1, "reference_words": 4}
    assert dict(found.parts) == wanted


@pytest.mark.req("T-6")
@pytest.mark.parametrize(
    ("normalise", "edits"),
    [("none", 4), ("nfc", 3), ("basic", 1), ("english", 0)],
    ids=["none", "nfc", "basic", "english"],
)
def test_what_does_not_count_is_the_users_choice(tmp_path, normalise, edits):
    # without any: case, punctuation, accent and number differ; each normaliser takes more of it away
    truth, heard = {"1": {"references": ["The CAF\u00c9, opened caf\u00e9 5"]}}, "the CAF\u00c9 opened cafe\u0301 five"
    found = score(tmp_path, truth, {"1": heard}, normalise=normalise).values["wer"]
    assert found.value == edits / 5


@pytest.mark.req("T-6", "T-10")
def test_normaliser_and_rules_stand_in_signature_and_settings(tmp_path):
    rules = plain(tmp_path / "own.glm", "gray => grey")
    truth, answers = {"1": {"references": ["Gray"]}}, {"1": "grey"}
    found = score(tmp_path, truth, answers, normalise="basic", mapping=rules)
    assert found.values["wer"].value == 0
    signature = found.values["wer"].signature
    assert signature.startswith("tok:words|nrefs:1|case:folded|normalise:basic|mapping:sha256:")
    assert f"basanite:{basanite.__version__}" in signature
    assert found.scores.settings["mapping"].startswith("sha256:")
    assert "own.glm" not in found.signature
    assert "normalise:basic" in found.signature
    assert "case:mixed|normalise:none|mapping:none" in score(tmp_path, truth, answers).values["cer"].signature


def test_rules_with_faults_stop_the_run(tmp_path):
    rules = plain(tmp_path / "own.glm", "gray grey")
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, {"1": {"references": ["a"]}}, {"1": "a"}, mapping=rules)
    assert problems(error) == [("T-6", 1)]


def test_parallel_plain_texts_are_read_with_any_number_of_references(tmp_path):
    first, second = plain(tmp_path / "one.txt", "a b", "c"), plain(tmp_path / "two.txt", "a x", "d")
    answers = plain(tmp_path / "s.txt", "a x", "c")
    one = basanite.score("speech", reference=first, submission=answers, draws=50)
    both = basanite.score("speech", reference=[first, second], submission=answers, draws=50)
    assert one.values["wer"].value == pytest.approx(1 / 3)
    assert both.values["wer"].value == 0
    assert "nrefs:2" in both.values["wer"].signature


def test_references_that_do_not_go_together_are_refused(tmp_path):
    first, second = plain(tmp_path / "one.txt", "a", "b"), plain(tmp_path / "two.txt", "a")
    with pytest.raises(InvalidInputError):
        basanite.score("speech", reference=[first, second], submission=first, draws=50)
    stm = plain(tmp_path / "r.stm", "r A s 0 1 a")
    with pytest.raises(SettingError, match="one STM file"):
        basanite.score("speech", reference=[stm, stm], submission=first, draws=50)


def test_words_with_times_need_segments_with_times(tmp_path):
    heard = plain(tmp_path / "s.ctm", "r A 0 1 a")
    with pytest.raises(InvalidInputError) as error:
        basanite.score("speech", reference=plain(tmp_path / "r.txt", "a"), submission=heard, draws=50)
    assert problems(error) == [("T-6", None)]


@pytest.mark.req("S-10")
@pytest.mark.parametrize("column", ["speaker", "recording"])
def test_speakers_or_recordings_move_together_in_draws(tmp_path, column):
    truth = {str(at): {"references": ["a b"], column: f"c{at // 2}"} for at in range(8)}
    found = score(tmp_path, truth, dict.fromkeys(truth, "a x"))
    assert found.scores.tables["wer"].clusters.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert any(column in note for note in found.notes)
    assert "units treated as independent" not in found.notes


@pytest.mark.req("S-10")
def test_without_a_column_the_report_says_units_are_taken_as_independent(tmp_path):
    found = score(tmp_path, {"1": {"references": ["a"]}}, {"1": "a"})
    assert "units treated as independent" in found.notes


@pytest.mark.req("S-10")
def test_speakers_of_timed_transcripts_are_the_clusters():
    found = basanite.score("speech", reference=EXAMPLES / "reference.stm", submission=EXAMPLES / "Alpha.ctm", draws=50)
    table = found.scores.tables["wer"]
    assert len(set(table.clusters.tolist())) == 36
    assert len(table.units) == 90


@pytest.mark.req("M92")
def test_background_speech_is_neither_expected_nor_counted(tmp_path):
    truth = {
        "1": {"references": ["a <background>x y</background> b"]},
        "2": {"references": ["c d"], "background": True},
        "3": {"references": ["e"], "background": "no"},
    }
    found = score(tmp_path, truth, {"1": "a b", "2": "something else", "3": "e"})
    assert found.values["wer"].value == 0
    assert found.values["wer"].units == 2
    assert any("1 of 3 utterances" in note for note in found.notes)


def test_if_everything_is_background_there_is_nothing_to_score(tmp_path):
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, {"1": {"references": ["a"], "background": True}}, {"1": "a"})
    assert problems(error) == [("M92", None)]


@pytest.mark.parametrize("mark", ["maybe", 7])
def test_a_mark_of_background_that_says_neither_yes_nor_no_is_a_problem(tmp_path, mark):
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, {"1": {"references": ["a"]}, "2": {"references": ["a"], "background": mark}}, {"1": "a"})
    assert problems(error) == [("T-6", 2)]


@pytest.mark.req("M92")
def test_channels_are_interleaved_by_time_before_the_rate(tmp_path):
    truth = {
        "a1": {"references": ["one two"], "document": "d", "channel": "A", "start": 0},
        "a2": {"references": ["four"], "document": "d", "channel": "A", "start": 3},
        "b1": {"references": ["three"], "document": "d", "channel": "B", "start": 2.5},
    }
    answers = {"a1": "one two three", "a2": "four", "b1": ""}
    assert score(tmp_path, truth, answers).values["wer"].value == 0.5
    together = score(tmp_path, truth, answers, channels="interleave")
    assert together.values["wer"].value == 0
    assert together.values["wer"].units == 1
    assert together.scores.tables["wer"].unit == "recording"
    assert together.scores.tables["wer"].units == ("d",)


@pytest.mark.req("M92")
def test_words_of_both_channels_and_of_one_mixed_channel_are_interleaved(tmp_path):
    reference = plain(tmp_path / "r.stm", "r A s 0 2 one two", "r B t 1.5 4 three", "r A s 4 5 four")
    words = [("A", 0.2, "one"), ("A", 1, "two"), ("B", 2, "three"), ("A", 4.2, "four")]
    apart = plain(tmp_path / "two.ctm", *(f"r {channel} {start} 0.2 {word}" for channel, start, word in words))
    mixed = plain(tmp_path / "one.ctm", *(f"r 1 {start} 0.2 {word}" for _, start, word in words))
    for answers in (apart, mixed):
        found = basanite.score("speech", reference=reference, submission=answers, channels="interleave", draws=50)
        assert (found.values["wer"].value, found.values["wer"].units) == (0, 1)
    with pytest.raises(InvalidInputError) as error:
        basanite.score("speech", reference=reference, submission=mixed, draws=50)
    assert problems(error) == [("T-6", 1)]  # one cause, told once: no word is of a channel that the reference has


@pytest.mark.req("M92")
def test_interleaving_without_knowing_the_recordings_is_refused(tmp_path):
    truth = {"1": {"references": ["a"]}, "2": {"references": ["b"]}}
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, truth, {"1": "a", "2": "b"}, channels="interleave")
    assert problems(error) == [("M92", None)]
    truth = {"1": {"references": ["a"], "recording": "r"}, "2": {"references": ["b", "c"], "recording": "r"}}
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, truth, {"1": "a", "2": "b"}, channels="interleave")
    assert problems(error) == [("M92", None)]


def test_words_outside_segments_count_unless_told_otherwise(tmp_path):
    reference, heard = plain(tmp_path / "r.stm", "r A s 0 1 a b"), plain(tmp_path / "s.ctm", "r A 0 1 a", "r A 9 1 b")
    found = {
        way: basanite.score("speech", reference=reference, submission=heard, outside=way, draws=50).values["wer"].value
        for way in ("insert", "ignore")
    }
    assert found == {"insert": 0.0, "ignore": 0.5}


@pytest.mark.req("M83")
def test_transcripts_of_a_pack_are_scored_by_document_with_its_factors():
    pack = EXAMPLES / "pack"
    found = basanite.score(
        "speech",
        reference=pack / "transcription",
        submission=pack / "Alpha",
        metadata=pack / "documents.tsv",
        draws=50,
    )
    assert found.values["wer"].units == 18
    assert sorted(found.breakdowns["genre"]) == ["CS", "NB"]
    assert found.scores.tables["wer"].units[0].startswith("MATERIAL_BASE-1A_")
    lines_too = basanite.score(
        "speech", reference=pack / "transcription", submission=pack / "Alpha", segments="lines", draws=50
    )
    assert lines_too.values["wer"].units == 90


def test_a_rate_without_reference_words_is_undefined_and_said_so(tmp_path):
    found = score(tmp_path, {"1": {"references": [""]}}, {"1": "a"}).values["wer"]
    assert math.isnan(found.value)
    assert found.flags


def test_a_report_shows_the_worst_utterances_said_and_heard(tmp_path):
    found = score(tmp_path, {"1": {"references": ["a b c"]}, "2": {"references": ["d"]}}, {"1": "a x", "2": "d"})
    figures = registry.load("tasks", "speech").figures(found)
    (entry,) = figures[0].entries
    assert (entry.name, entry.note) == ("1", "2 edits")
    assert [extract.label for extract in entry.extracts] == ["Said", "Heard"]
    assert ("x", "changed") in entry.extracts[1].pieces
    assert any(mark == "missing" for _, mark in entry.extracts[1].pieces)


def test_a_comparison_shows_the_utterances_that_moved_most():
    found = basanite.compare(
        "speech",
        reference=EXAMPLES / "reference.stm",
        submissions=[EXAMPLES / "Alpha.ctm", EXAMPLES / "Beta.ctm"],
        draws=50,
    )
    assert found.differences[0].verdict == "first"
    figures = registry.load("tasks", "speech").compared_figures(found)
    assert len(figures[0].entries) == 10


@pytest.mark.parametrize("name", ["Alpha.ctm", "Alpha.jsonl"])
def test_a_submission_can_be_checked_without_the_truth(tmp_path, name):
    good = plain(tmp_path / name, "r A 0 1 word" if name.endswith("ctm") else '{"id": "1", "text": "word"}')
    assert basanite.validate("speech", submission=good).valid
    bad = plain(tmp_path / f"Bad{name}", "r A 0" if name.endswith("ctm") else '{"id": "1"}')
    assert not basanite.validate("speech", submission=bad).valid


def test_workers_change_nothing(tmp_path):
    files = {"reference": EXAMPLES / "reference.stm", "submission": EXAMPLES / "Alpha.ctm"}
    settings = {"mapping": EXAMPLES / "mapping.glm", "draws": 50}
    alone, helped = (basanite.score("speech", **files, **settings, workers=n) for n in (1, 2))
    assert alone.values == helped.values


def test_a_large_timed_transcript_is_read_in_a_moment(tmp_path):
    count = 20_000
    reference = plain(tmp_path / "r.stm", *(f"r A s{at % 50} {at} {at + 1} one two" for at in range(count)))
    heard = plain(tmp_path / "s.ctm", *(f"r A {at + 0.2} 0.1 one" for at in range(count)))
    found = basanite.score("speech", reference=reference, submission=heard, draws=50).values["wer"]
    assert (found.value, found.units) == (0.5, count)


@pytest.mark.parametrize("side", ["reference", "submission"])
def test_an_utterance_that_would_take_hours_to_align_is_refused(tmp_path, side):
    texts = {"reference": "a", "submission": "a", side: "a " * 100_001}
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, {"1": {"references": [texts["reference"]]}}, {"1": texts["submission"]})
    (problem,) = error.value.findings.problems
    assert (problem.where, problem.file, "200002 characters" in problem.message) == (side, f"{side[0]}.jsonl", True)


def test_channels_put_together_are_not_too_long_either(tmp_path):
    said = {str(at): {"references": ["a " * 60_000], "recording": "r", "start": at} for at in range(2)}
    answers = dict.fromkeys(said, "a")
    with pytest.raises(InvalidInputError) as error:
        score(tmp_path, said, answers, channels="interleave")
    assert "characters, more than" in error.value.findings.problems[0].message


def test_too_many_readings_beside_a_long_answer_are_refused(tmp_path):
    (tmp_path / "r.stm").write_text("r A s 0 9 " + "{ a / b } " * 4_000 + "\n")
    (tmp_path / "s.ctm").write_text("".join(f"r A {at / 4000:.5f} 0.01 a\n" for at in range(15_000)))
    with pytest.raises(InvalidInputError) as error:
        basanite.score("speech", reference=tmp_path / "r.stm", submission=tmp_path / "s.ctm")
    assert "too many readings" in error.value.findings.problems[0].message


def test_a_time_is_written_in_digits(tmp_path):
    (tmp_path / "r.stm").write_text("r A s 0 9 a\n")
    (tmp_path / "s.ctm").write_text("r A 1_0 1 a\n")
    with pytest.raises(InvalidInputError) as error:
        basanite.score("speech", reference=tmp_path / "r.stm", submission=tmp_path / "s.ctm")
    assert "is not a time" in error.value.findings.problems[0].message
