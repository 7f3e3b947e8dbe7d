"""The translation task from files to values: formats, references, settings, clusters and signatures."""

import json
import math
import random
from pathlib import Path

import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER

import basanite
from basanite import registry
from basanite.errors import InvalidInputError, SettingError
from basanite.metrics.text.translation import LONGEST_FOR_TER

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "translation"


def plain(path, *texts):
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def score(tmp_path, references, candidates, **settings):
    rows = [{"id": str(at), "references": texts} for at, texts in enumerate(references)]
    reference = plain(tmp_path / "r.jsonl", *(json.dumps(row) for row in rows))
    rows = [{"id": str(at), "text": text} for at, text in enumerate(candidates)]
    submission = plain(tmp_path / "s.jsonl", *(json.dumps(row) for row in rows))
    return basanite.score("translation", reference=reference, submission=submission, draws=50, **settings)


def read(name):
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.req("T-3")
def test_the_example_has_the_values_of_sacrebleu():
    truth, answers = read("reference.jsonl"), read("Alpha.jsonl")
    streams = list(zip(*(row["references"] for row in truth), strict=True))
    texts = [row["text"] for row in answers]
    found = basanite.score(
        "translation",
        reference=EXAMPLES / "reference.jsonl",
        submission=EXAMPLES / "Alpha.jsonl",
        percent=True,
        chrf_word_order=2,
        draws=50,
    )
    peers = {"bleu": BLEU(), "chrf": CHRF(word_order=2), "ter": TER()}
    for name, peer in peers.items():
        assert found.values[name].value == pytest.approx(peer.corpus_score(texts, streams).score, abs=1e-9)
    assert found.values["unigram_precision_clipped"].value == pytest.approx(
        BLEU().corpus_score(texts, streams).precisions[0], abs=1e-9
    )


@pytest.mark.req("T-3", "T-10")
def test_every_value_carries_sacrebleus_signature_and_ours(tmp_path):
    settings = {"tokenise": "char", "lowercase": True, "smoothing": "add-k", "smooth_value": 2, "percent": True}
    found = score(tmp_path, [["a b", "c"], ["d", "e"]], ["a", "d"], **settings)
    ours = f"scale:0..100|basanite:{basanite.__version__}"
    version = f"version:{sacrebleu.__version__}"
    signed = {name: value.signature for name, value in found.values.items()}
    assert signed["bleu"] == f"nrefs:2|case:lc|eff:no|tok:char|smooth:add-k[2.00]|{version}|{ours}"
    assert signed["chrf"] == f"nrefs:2|case:lc|eff:yes|nc:6|nw:0|space:no|{version}|{ours}"
    assert signed["ter"] == f"nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|{version}|{ours}"
    assert signed["unigram_precision"] == f"nrefs:2|case:lc|eff:no|tok:char|smooth:none|{version}|{ours}"
    assert "tokenise:char" in found.signature


def test_segments_with_different_numbers_of_references_are_signed_so(tmp_path):
    assert score(tmp_path, [["a b"], ["d", "e"]], ["a", "d"]).values["bleu"].signature.startswith("nrefs:var|")


@pytest.mark.req("T-3")
def test_settings_reach_the_metrics(tmp_path):
    references, candidates = [["The cat, sat."]], ["the cat , sat ."]
    assert score(tmp_path, references, candidates, lowercase=True).values["bleu"].value == pytest.approx(1)
    assert score(tmp_path, references, candidates, tokenise="none").values["unigram_precision"].value == 0
    cased = [score(tmp_path, [["The cat"]], ["the cat"], ter_case=case).values["ter"].value for case in (False, True)]
    assert cased == [0, 0.5]
    assert score(tmp_path, [["a cat."]], ["a cat"], ter_normalise=True, ter_punctuation=False).values["ter"].value == 0
    short = [score(tmp_path, [["a b"]], ["a b"], effective_order=way).values["bleu"].value for way in (False, True)]
    assert short == [0, pytest.approx(1)]


@pytest.mark.parametrize(
    "setting",
    [{"tokenise": "flores200"}, {"smoothing": "best"}, {"smooth_value": 0}, {"chrf_word_order": 3}, {"ter": "?"}],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path, setting):
    with pytest.raises(SettingError):
        score(tmp_path, [["a"]], ["a"], **setting)


def test_parallel_plain_texts_with_several_references(tmp_path):
    paths = [
        plain(tmp_path / f"{name}.txt", *texts) for name, texts in {"one": ["a b c d", ""], "two": ["x", "y z"]}.items()
    ]
    answers = plain(tmp_path / "s.txt", "a b c d", "y z")
    found = basanite.score("translation", reference=paths, submission=answers, draws=50)
    streams = [["a b c d", ""], ["x", "y z"]]
    peer = BLEU().corpus_score(["a b c d", "y z"], streams).score
    assert found.values["bleu"].value * 100 == pytest.approx(peer)


@pytest.mark.req("S-10")
def test_documents_move_together_in_draws():
    found = basanite.score(
        "translation", reference=EXAMPLES / "reference.jsonl", submission=EXAMPLES / "Alpha.jsonl", draws=50, ter=False
    )
    table = found.scores.tables["bleu"]
    assert len(table.units) == 120
    assert len(set(table.clusters.tolist())) == 30
    assert "draws move whole clusters: items of one document stay together (30 documents)" in found.notes


@pytest.mark.req("S-10")
def test_without_documents_units_are_said_to_be_independent(tmp_path):
    assert "units treated as independent" in score(tmp_path, [["a"]], ["a"]).notes


def test_ter_is_left_out_with_a_reason_where_it_would_take_for_ever(tmp_path):
    rng = random.Random(0)
    long = " ".join(rng.choice("abcdefgh") for _ in range(LONGEST_FOR_TER + 1))
    found = score(tmp_path, [[long], ["a"]], [long, "a"])
    assert math.isnan(found.values["ter"].value)
    assert any("more than 250 words" in flag for flag in found.values["ter"].flags)
    assert found.values["bleu"].value == pytest.approx(1)
    unwanted = score(tmp_path, [["a"]], ["a"], ter=False).values["ter"]
    assert math.isnan(unwanted.value)
    assert "not computed: ter=no" in unwanted.flags


@pytest.mark.req("M83")
def test_translations_of_a_pack_are_scored_by_document_with_its_factors():
    pack = EXAMPLES / "pack"
    inputs = {"reference": pack / "translation", "submission": pack / "Alpha", "metadata": pack / "documents.tsv"}
    found = basanite.score("translation", **inputs, draws=50)
    assert found.values["bleu"].units == 18
    assert sorted(found.breakdowns["mode"]) == ["speech", "text"]
    assert basanite.score("translation", **inputs, segments="lines", draws=50).values["bleu"].units == 90


@pytest.mark.req("M83", case="bad")
def test_a_document_without_a_translation_is_told(tmp_path):
    for folder, names in {"r": ["d1", "d2"], "s": ["d1", "d3"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            plain(tmp_path / folder / f"{name}.txt", "text")
    with pytest.raises(InvalidInputError) as error:
        basanite.score("translation", reference=tmp_path / "r", submission=tmp_path / "s")
    assert sorted(problem.found for problem in error.value.findings.problems) == ["d2", "d3"]


def test_parts_of_bleu_give_bleu_again(tmp_path):
    found = score(tmp_path, [["a b c d e f g"]], ["a b c d x y"]).values["bleu"]
    parts = found.parts
    precisions = [parts[f"matches_{n}"] / parts[f"total_{n}"] for n in range(1, 5)]
    brevity = math.exp(1 - parts["reference_words"] / parts["candidate_words"])
    assert found.value == pytest.approx(brevity * math.prod(precisions) ** 0.25)


@pytest.mark.req("T-9", "S-12")
def test_systems_are_compared_with_every_value_and_shown_where_they_differ():
    paths = {name: EXAMPLES / f"{name}.jsonl" for name in ("Alpha", "Beta")}
    found = basanite.compare(
        "translation", reference=EXAMPLES / "reference.jsonl", submissions=paths, draws=50, chrf_word_order=2
    )
    assert {one.metric: one.verdict for one in found.differences} == dict.fromkeys(
        ("bleu", "chrf", "ter", "unigram_precision", "unigram_precision_clipped"), "first"
    )
    figures = registry.load("tasks", "translation").compared_figures(found)
    assert [extract.label for extract in figures[0].entries[0].extracts] == ["Reference", "Alpha", "Beta"]


@pytest.mark.req("S-12")
def test_a_system_against_itself_is_identical():
    paths = dict.fromkeys(("Alpha", "Again"), EXAMPLES / "Alpha.jsonl")
    found = basanite.compare(
        "translation", reference=EXAMPLES / "reference.jsonl", submissions=paths, draws=50, ter=False
    )
    assert {(one.p, one.verdict) for one in found.differences if one.metric != "ter"} == {(1.0, "identical")}
