"""The task lm: log-probabilities in, one perplexity out, with what was counted said beside it."""

import json
import math

import numpy as np
import pytest
from tests.synthetic.sentence_examples import write_lm

import basanite


@pytest.fixture
def file(tmp_path):
    def made(records, name="model.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return made


def listed(seed=0, number=30):
    rng = np.random.default_rng(seed)
    return [{"id": f"s{at}", "logprobs": (-rng.exponential(2, rng.integers(2, 9))).tolist()} for at in range(number)]


def by_hand(records, *, drop=0, base=math.e):
    kept = [record["logprobs"][: len(record["logprobs"]) - drop] for record in records]
    total, tokens = math.fsum(x for one in kept for x in one), sum(map(len, kept))
    return base ** (-total / tokens)


@pytest.mark.req("T-1", "T-9")
def test_a_model_is_scored_without_a_reference_with_an_interval_over_sentences(file):
    records = listed()
    result = basanite.score("lm", submission=file(records))
    value = result.values["perplexity"]
    assert value.value == pytest.approx(by_hand(records), rel=1e-12)
    assert value.low < value.value < value.high
    assert value.units == 30


@pytest.mark.req("T-1", "T-10")
@pytest.mark.parametrize(("eos", "drop"), [("counted", 0), ("not", 1)])
@pytest.mark.parametrize(("name", "base"), [("e", math.e), ("2", 2), ("10", 10)])
def test_base_and_sentence_ends_are_settings_and_recorded(file, eos, drop, name, base):
    records = listed()
    result = basanite.score("lm", submission=file(records), base=name, eos=eos)
    assert result.values["perplexity"].value == pytest.approx(by_hand(records, drop=drop, base=base), rel=1e-12)
    assert (result.scores.settings["base"], result.scores.settings["eos"]) == (name, eos)
    assert f"base:{name}|eos:{eos}" in result.scores.signatures["perplexity"]
    assert any("sentence ends are" in note for note in result.notes)


@pytest.mark.req("T-1")
def test_sums_of_sentences_give_the_same_number(file):
    records = listed()
    sums = [{"id": one["id"], "logprob": math.fsum(one["logprobs"]), "tokens": len(one["logprobs"])} for one in records]
    values = [basanite.score("lm", submission=file(some)).values["perplexity"].value for some in (records, sums)]
    assert values[0] == pytest.approx(values[1], rel=1e-14)


@pytest.mark.req("T-1")
def test_a_zero_probability_is_infinite_and_the_sentence_is_named(file):
    records = listed()
    records[7]["logprobs"][0] = "-inf"
    result = basanite.score("lm", submission=file(records))
    assert result.values["perplexity"].value == math.inf
    assert "infinite" in result.values["perplexity"].flags
    assert "perplexity is infinite: a token has probability 0 in s7" in result.notes
    assert np.isfinite(result.scores.tables["perplexity"].rows).all()


@pytest.mark.req("T-1", case="bad")
def test_what_is_no_log_probability_is_told_with_its_line(file):
    records = [*listed(number=2), {"id": "a", "logprobs": [0.7]}, {"id": "b", "logprobs": [None]}, {"id": "c"}]
    findings = basanite.validate("lm", submission=file(records))
    assert [(problem.rule, problem.line) for problem in findings.problems] == [("T-1", 3), ("T-1", 4), ("T-1", 5)]
    assert not findings.valid


@pytest.mark.req("T-1")
def test_a_reference_holds_the_number_of_tokens_the_same_for_all(file):
    records = listed()
    counts = [{"id": one["id"], "tokens": len(one["logprobs"])} for one in records]
    reference = file(counts, "tokens.jsonl")
    assert basanite.validate("lm", submission=file(records), reference=reference).valid
    assert not basanite.validate("lm", submission=file(records), reference=reference, eos="not").valid
    records[3]["logprobs"].append(-1.0)
    (problem,) = basanite.validate("lm", submission=file(records), reference=reference).problems
    assert problem.line == 4
    assert "in the reference" in problem.message


def test_without_a_token_there_is_no_perplexity(file):
    result = basanite.score("lm", submission=file([{"id": "a", "logprobs": []}]))
    assert math.isnan(result.values["perplexity"].value)
    assert "1 sentences have no token" in result.notes


def test_models_are_compared_on_the_same_sentences(tmp_path):
    write_lm(tmp_path)
    models = {name: tmp_path / f"{name}.jsonl" for name in ("Alpha", "Beta")}
    found = basanite.compare("lm", submissions=models, reference=tmp_path / "tokens.jsonl")
    (difference,) = found.differences
    assert difference.difference < 0
    assert difference.verdict == "first"
