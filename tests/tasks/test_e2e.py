"""End to end from files to values: what judges confirm, by which rule, with which beta, and how sure all of it is."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.running import here
from tests.tasks.folders import documents, packed, queries
from tests.tasks.summary_folders import judgement_table, run, summary_files

import basanite
from basanite import spine
from basanite.analysis.results import score_object
from basanite.analysis.votes import decide_by_majority, fit, votes_of
from basanite.canonical import dumps
from basanite.errors import InvalidInputError, SettingError
from basanite.reports.outputs.terminal import render
from basanite.synthetic.clir import Quality, Spec, write_key, write_metadata
from basanite.synthetic.summaries import Summarised, write_judgements, write_summaries
from basanite.tasks.e2e import TASK

FORMS = ("aqwv", "aqwv_all", "aqwv_relevant", "pmiss", "pfa")
RELEVANT = [[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
RETURNED = [[1, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]]
VOTES = ["RRN", "RN", "NNR", "RRR", "R"]


def oracle():
    path = Path(__file__).parents[1] / "golden" / "oracle_e2e.py"
    spec = importlib.util.spec_from_file_location("oracle_e2e", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = oracle()


def scored(inputs, **more):
    return basanite.score("e2e", **inputs, **{"folds": 2, "draws": 100, **more})


def plain(result):
    return {name: value.value for name, value in result.values.items()}


def agrees(result, case, **more):
    """Whether all end-to-end values, and those of retrieval, are the oracle's."""
    wanted = ORACLE.plain(ORACLE.values(case, more))
    assert {name: plain(result)[name] for name in wanted} == pytest.approx(
        {name: math.nan if value is None else value for name, value in wanted.items()}, abs=1e-12, nan_ok=True
    )


def settings_of(rule, tie):
    return {"judging": "raw"} if rule == "raw" else {"rule": rule, "tie": tie}


@pytest.mark.req("M12", "M13", "M15", "M16", "C07", case="good")
@pytest.mark.parametrize("tie", ["N", "R"])
@pytest.mark.parametrize("rule", ["majority", "any", "all", "raw"])
def test_values_are_those_of_exact_fractions(tmp_path, rule, tie):
    chosen = settings_of(rule, tie)
    agrees(scored(run(tmp_path, RELEVANT, RETURNED, VOTES), **chosen), tmp_path, **chosen)


@st.composite
def campaigns(draw):
    count = draw(st.integers(1, 3))
    shape = (count, draw(st.integers(2, 4)))
    flags = st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    relevant, returned = (np.reshape(draw(flags), shape) for _ in range(2))
    votes = [draw(st.text("RN", min_size=1, max_size=4)) for _ in range(int(returned.sum()))]
    return relevant, returned, votes


@pytest.mark.req("M12", "M13", "M14", "M15", "M16", "C07", "C08", case="good")
@given(campaigns(), st.sampled_from(["majority", "any", "all", "raw"]), st.sampled_from(["N", "R"]))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_of_any_campaign_are_those_of_exact_fractions(tmp_path, campaign, rule, tie):
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    chosen = settings_of(rule, tie)
    agrees(scored(run(tmp_path, *campaign), **chosen), tmp_path, **chosen)


@pytest.mark.req("M16", "M03", case="good")
@pytest.mark.parametrize(("language", "beta", "beta_clir"), [("1A", 59.9, 20), ("1B", 59.9, 20), ("1S", 40, 40)])
def test_each_kind_of_value_has_the_beta_of_its_language_and_task(tmp_path, language, beta, beta_clir):
    result = scored(run(tmp_path, [[1, 0, 0]], [[0, 1, 0]], ["R"], language=language))
    assert plain(result)["e2e_aqwv"] == pytest.approx(-beta / 2)
    assert plain(result)["aqwv"] == pytest.approx(-beta_clir / 2)
    assert (result.scores.settings["beta"], result.scores.settings["beta_clir"]) == (beta, beta_clir)
    assert f"|beta:{beta}|beta_clir:{beta_clir}|" in result.signature


@pytest.mark.req("M16", "M04")
def test_betas_can_be_set_apart_and_the_settings_of_a_result_give_it_again(tmp_path):
    inputs = run(tmp_path, [[1, 0, 0]], [[0, 1, 0]], ["R"])
    result = scored(inputs, beta=6, beta_clir=2)
    assert (plain(result)["e2e_aqwv"], plain(result)["aqwv"]) == (-3, -1)
    again = {name: result.scores.settings[name] for name in ("beta", "beta_clir", "rule", "tie", "judging")}
    assert plain(scored(inputs, **again)) == pytest.approx(plain(result), nan_ok=True)
    priced = scored(inputs, cost=0.2, prior=0.5)
    assert plain(priced)["e2e_aqwv"] == pytest.approx(-0.1), "0.2 (1/0.5 - 1) / 2"


@pytest.mark.req("M03", case="bad")
def test_an_unknown_language_needs_both_betas(tmp_path):
    inputs = run(tmp_path, [[1, 0, 0]], [[0, 1, 0]], ["R"], language="2B")
    with pytest.raises(SettingError, match="language '2B' and E2E"):
        scored(inputs)
    with pytest.raises(SettingError, match=r"language '2B' and CLIR.*--set beta_clir=20"):
        scored(inputs, beta=59.9)
    assert plain(scored(inputs, beta=4, beta_clir=2))["e2e_aqwv"] == -2


@pytest.mark.req("M16")
def test_retrieval_values_are_those_of_the_same_decisions_alone(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    flat = {
        Path(name).name: b"".join(b"\t".join(line.split(b"\t")[:3]).strip() + b"\n" for line in data.splitlines())
        for name, data in summary_files(RETURNED).items()
        if name.endswith(".tsv")
    }
    archive = packed(tmp_path / "Alpha.tgz", flat)
    clir = basanite.score("clir", reference=inputs["reference"], submission=archive, folds=2)
    both = plain(scored(inputs))
    assert {name: both[name] for name in plain(clir)} == pytest.approx(plain(clir), nan_ok=True)


# Judgements


def dumped(result):
    return json.loads(dumps(score_object(result)))


@pytest.mark.req("M12", case="bad")
@pytest.mark.req("C08")
@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({}, "majority, a tie is not relevant"),
        ({"tie": "R"}, "majority, a tie is relevant"),
        ({"rule": "any"}, "any vote"),
        ({"rule": "all"}, "all votes"),
        ({"rule": "dawid_skene"}, "Dawid-Skene, a tie is not relevant"),
        ({"judging": "raw"}, "raw shares of votes"),
    ],
)
def test_rule_and_tie_rule_stand_in_json_report_and_signature(tmp_path, chosen, words):
    result = scored(run(tmp_path, RELEVANT, RETURNED, VOTES), **chosen)
    assert any(f"combined by: {words}." in note for note in dumped(result)["notes"])
    assert words in render(spine.report(TASK, result)).decode()
    for name, value in {"rule": "majority", "tie": "N", "judging": "binary", **chosen}.items():
        assert dumped(result)["settings"][name] == value
        assert f"|{name}:{value}" in result.signature


@pytest.mark.req("C08")
@pytest.mark.parametrize("wrong", [{"rule": "most"}, {"tie": "n"}, {"judging": "mean"}])
def test_an_unknown_rule_is_refused_before_anything_is_read(wrong):
    with pytest.raises(SettingError, match="it is not one of"):
        basanite.validate("e2e", reference="none", submission="none", **wrong)


@pytest.mark.req("M13", "C45", case="bad")
def test_a_returned_pair_without_judgement_leaves_no_score_and_is_listed(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    text = inputs["judgements"].read_text()
    lines = [line for line in text.splitlines(keepends=True) if "query00003" not in line]
    inputs["judgements"].write_text("".join(lines))
    with pytest.raises(InvalidInputError) as raised:
        scored(inputs)
    (problem,) = raised.value.findings.problems
    assert (problem.rule, problem.where, problem.file) == ("M13", "judgements", "judgements.tsv")
    assert f"query00003 {documents(5)[4]}" in problem.message


@pytest.mark.req("M13", case="bad")
def test_without_any_judgements_validation_passes_and_scoring_says_what_is_missing(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED)
    assert basanite.validate("e2e", **inputs).valid
    with pytest.raises(SettingError, match="--judgements"):
        scored(inputs)


@pytest.mark.req("M14", case="bad")
def test_judgements_of_pairs_that_were_not_returned_change_nothing_and_warn(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    before = plain(scored(inputs))
    with inputs["judgements"].open("a") as file:
        file.write(f"judge9\tquery00001\t{documents(5)[1]}\tR\n")
    findings = basanite.validate("e2e", **inputs)
    assert [(one.rule, one.severity, one.where) for one in findings.problems] == [("M14", "warn", "judgements")]
    assert plain(scored(inputs)) == pytest.approx(before, nan_ok=True)


@pytest.mark.req("S-18")
def test_the_digest_of_the_set_of_judgements_is_in_the_result_whatever_their_order(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    first = scored(inputs)
    header, *lines = inputs["judgements"].read_text().splitlines(keepends=True)
    inputs["judgements"].write_text(header + "".join(reversed(lines)))
    second = scored(inputs)
    inputs["judgements"].write_text(header + "".join(lines).replace("\tN\n", "\tR\n", 1))
    third = scored(inputs)
    digests = [result.scores.digests["judgements"] for result in (first, second, third)]
    assert digests[0] == digests[1] != digests[2]
    assert digests[0].startswith("sha256:")
    assert dumps(score_object(first)) == dumps(score_object(second))
    parts = first.values["e2e_aqwv"].parts
    assert (parts["judged_pairs"], parts["judges"], parts["judgements"]) == (5, 3, 12)


def test_results_of_a_crowd_platform_are_read_under_a_key_that_no_result_shows(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    wanted = plain(scored(inputs))
    rows = [line.split("\t") for line in inputs["judgements"].read_text().splitlines()[1:]]
    crowd = tmp_path / "batch.csv"
    head = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.document,Answer.verdict\n"
    lines = (f"H{at},A{at},W{row[0]},Approved,{row[1]},{row[2]},{row[3]}\n" for at, row in enumerate(rows))
    crowd.write_text(head + "".join(lines) + f"H,A,Wx,Rejected,query00001,{documents(5)[0]},N\n")
    result = scored({**inputs, "judgements": crowd}, judge_key="a secret of some length")
    assert plain(result) == pytest.approx(wanted, nan_ok=True)
    text = dumps(score_object(result)) + render(spine.report(TASK, result)).decode()
    assert "a secret of" not in text
    assert "Wjudge" not in text
    with pytest.raises(InvalidInputError) as raised:
        scored({**inputs, "judgements": crowd})
    assert "X-18" in raised.value.findings.counts


def test_the_digest_and_not_the_path_of_a_schema_is_in_the_result(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    own = tmp_path / "schema.json"
    own.write_text('{"type": "object"}')
    shown = scored(inputs, schema=str(own)).scores.settings["schema"]
    assert shown.startswith("sha256:")


# A larger campaign


SPEC = Spec(queries=24, documents=40, seed=3, prevalence=0.08)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    system = Summarised(SPEC, Quality("Alpha", 6.0, beta=4.0), words=2, votes=4)
    write_key(SPEC, folder / "reference")
    write_summaries(system, folder / "submission.tgz")
    write_judgements(system, folder / "judgements.tsv")
    write_metadata(SPEC, folder / "metadata")
    return folder


def inputs_of(folder):
    return {
        "reference": folder / "reference",
        "submission": folder / "submission.tgz",
        "judgements": folder / "judgements.tsv",
    }


@pytest.mark.req("M73")
def test_breakdowns_after_judging_are_the_oracles(campaign, tmp_path):
    tables = {"metadata-documents.tsv": "documents.tsv", "metadata-queries.tsv": "queries.tsv"}
    for link, name in tables.items():
        (campaign / link).write_bytes((campaign / "metadata" / name).read_bytes())
    result = scored(inputs_of(campaign), metadata=sorted((campaign / "metadata").iterdir()))
    wanted = ORACLE.plain(ORACLE.breakdowns(campaign, {}))
    assert set(wanted) == {"genre", "mode", "kind", "subtype", "domain", "words"}
    for factor, levels in wanted.items():
        for level, values in levels.items():
            found = {name: result.breakdowns[factor][level][name].value for name in values}
            expected = {name: math.nan if value is None else value for name, value in values.items()}
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True), (factor, level)


@pytest.mark.req("S-18")
def test_dawid_skene_decides_each_pair_and_tells_its_restarts(campaign, monkeypatch):
    result = scored(inputs_of(campaign), rule="dawid_skene")
    rows = [line.split("\t") for line in (campaign / "judgements.tsv").read_text().splitlines()[1:]]
    judges, pairs = sorted({row[0] for row in rows}), sorted({(row[1], row[2]) for row in rows})
    columns = [judges.index(row[0]) for row in rows], [pairs.index((row[1], row[2])) for row in rows]
    votes = votes_of(*columns, [row[3] == "R" for row in rows], judges=len(judges), items=len(pairs))
    verdicts = dict(zip(pairs, decide_by_majority(fit(votes).posterior).tolist(), strict=True))
    assert verdicts != {pair: float(share > 0.5) for pair, share in zip(pairs, _shares(rows, pairs), strict=True)}
    monkeypatch.setattr(ORACLE, "votes", lambda folder: verdicts)
    monkeypatch.setattr(ORACLE, "share", lambda given, settings: given)
    agrees(result, campaign)
    assert any("Dawid-Skene was started" in note for note in result.notes)


def _shares(rows, pairs):
    said = {pair: [row[3] for row in rows if (row[1], row[2]) == pair] for pair in pairs}
    return [verdicts.count("R") / len(verdicts) for verdicts in said.values()]


# Notes


def test_pairs_with_one_judgement_are_counted_in_a_note(tmp_path):
    assert any(
        "1 of 5 pairs have one judgment" in note for note in scored(run(tmp_path, RELEVANT, RETURNED, VOTES)).notes
    )


def test_a_silent_system_has_a_value_and_no_pairs(tmp_path):
    result = scored(run(tmp_path, [[1, 0, 0], [0, 1, 0]], np.zeros((2, 3)), []))
    assert (plain(result)["e2e_aqwv"], plain(result)["aqwv"]) == (0, 0)


def test_what_must_stand_beside_retrieval_values_stands_beside_the_others_too(tmp_path):
    result = scored(run(tmp_path, RELEVANT, RETURNED, VOTES))
    assert any("(C05)" in flag for flag in result.values["e2e_aqwv_all"].flags)


# Comparing


@pytest.mark.req("S-18")
def test_systems_are_compared_each_with_its_own_judgements(tmp_path):
    flags = np.zeros((20, 4), bool)
    flags[:, 0] = True
    inputs = run(tmp_path, flags, flags)
    votes = {"A": ["RRR"] * 20, "B": ["RRR", "NNR"] * 10}
    judged = {}
    for name, said in votes.items():
        judged[name] = tmp_path / f"{name}.tsv"
        judged[name].write_text(judgement_table(flags, said))
    systems = dict.fromkeys(votes, inputs["submission"])
    found = basanite.compare("e2e", reference=inputs["reference"], submissions=systems, judgements=judged, folds=2)
    by_metric = {one.metric: one for one in found.differences}
    assert by_metric["e2e_aqwv"].difference == pytest.approx(0.5)
    assert by_metric["e2e_aqwv"].verdict == "first"
    assert by_metric["aqwv"].verdict == "identical"


def test_the_command_line_scores_with_judgements(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED, VOTES)
    options = [word for name, path in inputs.items() for word in (f"--{name}", str(path))]
    ended = here("score", "e2e", *options, "--set", "rule=any", "--set", "folds=2", "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert ended.data["settings"]["rule"] == "any"
    assert ended.data["primary"] == "e2e_aqwv"


def test_a_repair_keeps_the_folders_of_queries(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED)
    rows = inputs["submission"] / queries(1)[0] / f"{queries(1)[0]}.tsv"
    rows.write_bytes(rows.read_bytes().replace(b"\n", b"\r\n"))
    given = ["--reference", str(inputs["reference"]), "--submission"]
    ended = here("validate", "e2e", *given, str(inputs["submission"]), "--fix", "Fixed.tgz", cwd=tmp_path)
    assert ended.code == 1
    assert here("validate", "e2e", *given, "Fixed.tgz", cwd=tmp_path).code == 0


def test_before_judges_have_looked_there_are_values_of_retrieval_and_none_end_to_end(tmp_path):
    inputs = run(tmp_path, RELEVANT, RETURNED)
    with pytest.raises(SettingError, match="give --judgements"):
        scored(inputs)
    waiting, judged = scored(inputs, unjudged="undefined"), scored(run(tmp_path / "judged", RELEVANT, RETURNED, VOTES))
    assert math.isnan(waiting.values["e2e_aqwv"].value)
    assert waiting.values["aqwv"].value == judged.values["aqwv"].value
    assert score_object(waiting)["settings"]["unjudged"] == "undefined"
    assert "unjudged" not in score_object(judged)["settings"]
