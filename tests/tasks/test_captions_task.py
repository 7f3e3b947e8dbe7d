"""The captions task from files to values: formats, settings, signatures, notes and problems."""

import json
from pathlib import Path

import pytest

import basanite
from basanite.errors import InvalidInputError, SettingError
from basanite.metrics.text import captions

EXAMPLE = Path(__file__).parents[2] / "examples" / "captions"
NAMES = ("cider_d", "bleu1", "bleu2", "bleu3", "bleu4", "meteor", "rouge_l", "cider", "fusion")


def lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """A reference and a submission as JSON lines."""
    texts = {"a": ["A cat sat.", "The cat sits on a mat."], "b": ["Two dogs run!"], "c": ["A red bus, parked."]}
    answers = {"c": "a red car", "a": "a cat sat on the mat", "b": "dogs running"}
    reference = [
        {"id": name, "references": others, "kind": "animal" if name < "c" else "thing"}
        for name, others in texts.items()
    ]
    submission = [{"id": name, "text": text} for name, text in answers.items()]
    return {
        "reference": lines(tmp_path / "key.jsonl", reference),
        "submission": lines(tmp_path / "Alpha.jsonl", submission),
    }


def example(name="Alpha"):
    return {"reference": EXAMPLE / "captions.json", "submission": EXAMPLE / f"{name}.json"}


@pytest.mark.req("T-4", "T-9")
def test_every_value_comes_with_an_interval_from_the_rows_of_images():
    result = basanite.score("captions", **example(), draws=200)
    assert tuple(result.values) == NAMES
    assert result.scores.primary == "cider_d"
    for value in result.values.values():
        assert value.low < value.value < value.high
        assert value.units == 40
    assert 0 <= result.values["fusion"].value <= 1


def test_coco_and_json_lines_give_the_same_values(tmp_path):
    people = json.loads((EXAMPLE / "captions.json").read_text())["annotations"]
    texts = {}
    for one in people:
        texts.setdefault(one["image_id"], []).append(one["caption"])
    system = json.loads((EXAMPLE / "Alpha.json").read_text())
    plain = {
        "reference": lines(tmp_path / "key.jsonl", [{"id": k, "references": v} for k, v in texts.items()]),
        "submission": lines(tmp_path / "a.jsonl", [{"id": one["image_id"], "text": one["caption"]} for one in system]),
    }
    first, second = (basanite.score("captions", **one, draws=100) for one in (example(), plain))
    assert {n: v.value for n, v in first.values.items()} == {n: v.value for n, v in second.values.items()}


@pytest.mark.req("T-4")
def test_a_file_of_results_is_known_by_what_it_holds_whatever_a_server_calls_it(tmp_path):
    named = tmp_path / "Alder_captions-primary-unconstrained-x_BASE-1A-IMAGES_20180401_000000.tgz"
    named.write_bytes((EXAMPLE / "Alpha.json").read_bytes())
    found, plain = (
        basanite.score("captions", reference=EXAMPLE / "captions.json", submission=path, draws=50)
        for path in (named, EXAMPLE / "Alpha.json")
    )
    assert {name: value.value for name, value in found.values.items()} == {
        name: value.value for name, value in plain.values.items()
    }


def test_values_are_those_of_the_plain_functions_on_tokenised_text(files):
    result = basanite.score("captions", **files, draws=100)
    answers = ["a cat sat on the mat", "dogs running", "a red car"]
    people = [["a cat sat", "the cat sits on a mat"], ["two dogs run"], ["a red bus parked"]]
    assert result.values["cider_d"].value == pytest.approx(captions.cider_d(answers, people).mean())
    assert result.values["rouge_l"].value == pytest.approx(captions.rouge_l(answers, people).mean())
    assert result.values["meteor"].value == pytest.approx(captions.meteor(answers, people))
    assert result.values["bleu2"].value == pytest.approx(captions.bleu(answers, people)[1])
    assert result.values["fusion"].value == pytest.approx(captions.fusion(answers, people))


def test_text_that_is_tokenised_already_is_left_as_it_is(files):
    coco, none = (basanite.score("captions", **files, draws=100, tokenise=how) for how in ("coco", "none"))
    assert none.values["bleu1"].value < coco.values["bleu1"].value  # "sat." is no "sat", "Two" no "two"


@pytest.mark.req("T-10")
def test_each_value_carries_the_text_of_how_it_was_made(files):
    made = basanite.score("captions", **files, draws=100).scores.signatures
    assert set(made) == set(NAMES)
    assert all(
        "tokeniser: coco-like, lower case" in text and "references: 1..2 an image" in text for text in made.values()
    )
    assert "df: references under test" in made["cider_d"]
    assert "exact+stem, no function words" in made["meteor"]
    assert "no smoothing" in made["bleu4"]
    assert made["fusion"].startswith("(bleu4 + meteor + rouge_l + cider_d/10) / 4")
    other = basanite.score("captions", **files, draws=100, tokenise="none", fusion="rouge_l:3, bleu1").scores.signatures
    assert all("tokeniser: none, case kept" in text for text in other.values())
    assert other["fusion"].startswith("(3 rouge_l + bleu1) / 4")


@pytest.mark.req("T-4")
def test_the_notes_name_the_variant_of_meteor_the_weights_held_fixed_and_the_formula(files):
    notes = " ".join(basanite.score("captions", **files, draws=100).notes)
    assert "held fixed" in notes
    assert "exact and stem matches and no function words" in notes
    assert "fusion = (bleu4 + meteor + rouge_l + cider_d/10) / 4" in notes


def test_another_fusion_is_the_weighted_mean_of_what_was_named(files):
    found = basanite.score("captions", **files, draws=100, fusion="rouge_l:3,bleu1").values
    assert found["fusion"].value == pytest.approx((3 * found["rouge_l"].value + found["bleu1"].value) / 4)


@pytest.mark.parametrize(
    "setting", ["", "bleu5", "bleu4,bleu4", "bleu4:0", "bleu4:x", "bleu4:-1", "cider_d:nan", "fusion"]
)
def test_a_fusion_that_means_nothing_is_refused(files, setting):
    with pytest.raises(SettingError, match="fusion"):
        basanite.score("captions", **files, fusion=setting)


@pytest.mark.req("T-4")
def test_a_wordnet_folder_brings_synonyms_under_another_name(files, tmp_path):
    folder = tmp_path / "wordnet"
    folder.mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"index.{part}").write_text("".join(f"{word} n 1 0 1 0 00000009\n" for word in ("bus", "car")))
    plain = basanite.score("captions", **files, draws=100)
    rich = basanite.score("captions", **files, draws=100, wordnet=folder)
    assert rich.values["meteor"].value > plain.values["meteor"].value
    assert "exact+stem+synonym (WordNet)" in rich.scores.signatures["meteor"]
    assert "synonym" in " ".join(rich.notes)
    assert rich.scores.settings["wordnet"].startswith("sha256:")
    with pytest.raises(SettingError, match=r"index\.noun"):
        basanite.score("captions", **files, wordnet=tmp_path)


@pytest.mark.req("T-4", case="bad")
def test_all_mistakes_of_the_broken_example_are_found_at_once():
    findings = basanite.validate("captions", **example("broken"))
    messages = [problem.message for problem in findings.problems]
    assert not findings.valid
    assert {"image '8' has several captions", "entry 13 has no caption", "no item is called '9001'"} <= set(messages)
    assert "item '4' has no answer" in messages
    with pytest.raises(InvalidInputError):
        basanite.score("captions", **example("broken"))


def test_a_caption_of_a_whole_book_is_refused_in_json_lines_too(files):
    long = {"id": "b", "text": "dog " * 10_000}
    kept = [json.loads(line) for line in files["submission"].read_text().splitlines() if '"b"' not in line]
    lines(files["submission"], [*kept, long])
    findings = basanite.validate("captions", **files)
    assert [problem.rule for problem in findings.problems] == ["T-4"]
    assert "characters" in findings.problems[0].message


def test_one_image_is_scored_with_a_remark_that_cider_d_is_0(tmp_path):
    reference = lines(tmp_path / "key.jsonl", [{"id": "a", "references": ["a cat"]}])
    submission = lines(tmp_path / "one.jsonl", [{"id": "a", "text": "a cat"}])
    result = basanite.score("captions", reference=reference, submission=submission, draws=100)
    assert result.values["cider_d"].value == 0
    assert result.values["bleu2"].value == 1
    assert any("one image" in flag for flag in result.values["cider_d"].flags)
    assert any("cider_d is part of it: one image" in flag for flag in result.values["fusion"].flags)
    without = basanite.score("captions", reference=reference, submission=submission, draws=100, fusion="bleu1,bleu2")
    assert not any("one image" in flag for flag in without.values["fusion"].flags)


def test_columns_of_the_reference_break_the_values_down(files):
    result = basanite.score("captions", **files, draws=100)
    assert set(result.breakdowns["kind"]) == {"animal", "thing"}
    weights = {"animal": 2, "thing": 1}
    parts = [weights[level] * values["cider_d"].value for level, values in result.breakdowns["kind"].items()]
    assert sum(parts) / 3 == pytest.approx(result.values["cider_d"].value)


def test_a_better_system_is_told_from_a_weaker_one():
    found = basanite.compare(
        "captions", submissions=[EXAMPLE / "Alpha.json", EXAMPLE / "Beta.json"], reference=EXAMPLE / "captions.json"
    )
    first = next(one for one in found.differences if one.metric == "cider_d")
    assert first.verdict == "first"


def test_a_caption_that_is_too_long_is_told_with_its_file(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "1", "references": ["a dog"]}\n')
    (tmp_path / "s.jsonl").write_text(f'{{"id": "1", "text": "{"a" * 10_001}"}}\n')
    with pytest.raises(InvalidInputError) as error:
        basanite.score("captions", reference=tmp_path / "r.jsonl", submission=tmp_path / "s.jsonl")
    assert [problem.file for problem in error.value.findings.problems] == ["s.jsonl"]
