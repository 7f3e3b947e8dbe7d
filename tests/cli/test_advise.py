"""`basanite material advise`: the command's contract, on the example."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cli.running import EXAMPLE, here

POLICY_KEYS = {"summary", "value", "gain", "low", "high", "p", "verdict", "note", "level"}
POLICY_KEYS |= {"from_now_on", "thresholds", "curve"}
WORDS = ("material", "advise", "clir", "--reference", "key", "--submission")


@pytest.mark.req("S-15")
@pytest.mark.parametrize(("system", "advice"), [("Alpha", "keep"), ("Gamma", "global")])
def test_the_advice_is_keep_unless_a_gain_is_clear(system, advice):
    data = here(*WORDS, f"{system}.tgz", "--json").data
    assert data["advice"] == advice
    assert data["policies"].keys() == {"global", "calibrated"}
    for policy in data["policies"].values():
        assert policy.keys() == POLICY_KEYS
        assert policy["gain"] == pytest.approx(policy["value"] - data["submitted"]["value"])
        assert len(policy["thresholds"]) == 20
    holds_0 = [policy["low"] <= 0 for policy in data["policies"].values()]
    assert all(holds_0) if advice == "keep" else not any(holds_0)


@pytest.mark.req("S-14")
def test_maxima_are_called_optimistic_in_words_and_in_the_object():
    ended = here(*WORDS, "Gamma.tgz")
    assert "are optimistic" in ended.stdout
    assert here(*WORDS, "Gamma.tgz", "--json").data["optimistic"].keys() == {"mqwv", "oracle"}


def test_the_same_value_as_score_and_reports_in_the_usual_forms(tmp_path):
    reports = [tmp_path / f"advice.{kind}" for kind in ("txt", "csv", "json")]
    ended = here(*WORDS, "Beta.tgz", "--json", *(word for path in reports for word in ("--report", path)))
    scored = here("score", *WORDS[2:], "Beta.tgz", "--metric", "mqwv_crossfit", "--json").data
    assert ended.data["submitted"]["value"] == scored["values"]["aqwv"]["value"]
    assert ended.data["policies"]["global"]["value"] == scored["values"]["mqwv_crossfit"]["value"]
    assert all(path.stat().st_size for path in reports)


def test_folds_calibration_count_and_settings_are_used_and_shown():
    options = ("--folds", "5", "--calibration", "logistic", "--count", "queries", "--set", "beta=40", "--workers", "2")
    settings = here(*WORDS, "Alpha.tgz", *options, "--json").data["settings"]
    assert (settings["folds"], settings["beta"]) == (5, 40.0)
    assert (settings["calibration"], settings["count"]) == ("logistic", "queries")


def test_folds_given_twice_are_refused():
    ended = here(*WORDS, "Alpha.tgz", "--folds", "5", "--set", "folds=6")
    assert (ended.code, "twice" in ended.stderr) == (2, True)


def test_other_tasks_are_refused(tmp_path):
    (tmp_path / "key").mkdir()
    for name in ("key/ENG", "ENG"):
        rows = "".join(f"MATERIAL_BASE-1A_1000000{at}\tN{'' if '/' in name else chr(9) + '0.1'}\n" for at in range(3))
        (tmp_path / f"{name}.tsv").write_text(rows)
    ended = here("material", "advise", "langid", "--reference", "key", "--submission", "ENG.tsv", cwd=tmp_path)
    assert (ended.code, "clir or e2e" in ended.stderr) == (2, True)


def test_problems_of_a_submission_end_it_with_all_of_them(tmp_path):
    shutil.copytree(EXAMPLE / "key", tmp_path / "key")
    ended = here(
        "material", "advise", "clir", "--reference", "key", "--submission", EXAMPLE / "broken", "--json", cwd=tmp_path
    )
    assert (ended.code, ended.data["valid"]) == (1, False)


@pytest.mark.parametrize(
    "words",
    [
        ("advise", "clir", "--reference", "key", "--submission", "Alpha.tgz"),
        ("explore", "clir", "--reference", "key", "--submission", "Alpha.tgz"),
        ("queries", Path(__file__).parent / "golden" / "queries" / "files" / "query_list.tsv"),
        ("domains", "GOV"),
    ],
    ids=lambda words: words[0],
)
def test_the_former_name_of_a_command_works_and_is_not_listed(words):
    former, now = here(*words, "--json"), here("material", *words, "--json")
    assert (former.code, former.stdout) == (now.code, now.stdout)
    assert former.code == 0
    assert f"\n  {words[0]} " not in here("--help").stdout


def test_resamples_is_another_name_of_draws():
    named = [here(*WORDS, "Alpha.tgz", name, "50", "--json").data for name in ("--draws", "--resamples")]
    assert named[0] == named[1]
    assert named[0]["settings"]["draws"] == 50
