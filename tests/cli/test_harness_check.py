"""`basanite harness check`: claims that a design cannot decide are named before anything runs."""

from __future__ import annotations

import shutil

import pytest
from tests.cli.running import HARNESS, here


@pytest.fixture
def plan(tmp_path):
    """The quick plan, to be changed: a function writes it with some lines replaced."""
    for name in ("quick.toml", "alpha.toml", "sealed.toml"):
        shutil.copy(HARNESS / name, tmp_path / name)

    def change(*pairs):
        text = (tmp_path / "quick.toml").read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "changed.toml").write_text(text)
        return tmp_path / "changed.toml"

    return change


def claims(path, *words):
    ended = here("harness", "check", str(path), *words, "--json")
    assert ended.code == 0, ended.stderr
    return {one["claim"]: one for one in ended.data["claims"]}


@pytest.mark.req("S-30")
def test_a_plan_in_order_says_what_gain_each_claim_takes(plan):
    ended = here("harness", "check", str(plan()))
    assert ended.code == 0
    assert "4 claims can be decided." in ended.stdout
    assert "a gain of 4.44 standard errors is detected in 80% of cases" in ended.stdout


@pytest.mark.req("S-30")
def test_a_claim_without_its_margin_cannot_be_decided_and_the_others_can(plan):
    found = claims(plan(("margin = 0.05\n", "")))
    assert {name for name, one in found.items() if not one["decidable"]} == {"comparable"}
    assert "no margin is declared" in found["comparable"]["reasons"][0]


@pytest.mark.req("S-30")
def test_two_folds_decide_nothing(plan):
    found = claims(plan(("folds = 5", "folds = 2")))
    assert not any(one["decidable"] for one in found.values())
    assert all("with 2 folds" in " ".join(one["reasons"]) for one in found.values())


@pytest.mark.req("S-30")
def test_a_claim_whose_runs_cannot_be_made_says_which_part_is_missing(plan):
    ended = here("harness", "check", str(plan(('strong = { module = "svm", parameters = { C = [1.0, 10.0] } }', ""))))
    assert ended.code == 0
    assert "2 of 4 claims cannot be decided" in ended.stdout
    assert "names no strong classifier" in ended.stdout


@pytest.mark.req("S-30")
def test_a_margin_below_what_the_test_rows_can_show_is_told_from_a_stated_variance(plan):
    found = claims(plan(), "--variance", "0.5")
    assert not found["comparable"]["decidable"]
    assert "the margin is 0.05" in found["comparable"]["reasons"][0]
    assert claims(plan(), "--variance", "0.0001")["comparable"]["decidable"]
    wide = claims(plan(("margin = 0.05", "margin = 0.5")), "--variance", "0.5")
    assert wide["comparable"]["decidable"]
    quarter = claims(plan(), "--variance", "0.125")["central"]["detectable"]
    assert quarter == pytest.approx(found["central"]["detectable"] / 2)


@pytest.mark.slow
@pytest.mark.req("S-30")
def test_a_plan_that_is_not_sealed_yet_can_be_checked_and_is_not_sealed_by_it(plan, tmp_path):
    plan()
    ended = here("harness", "check", str(tmp_path / "sealed.toml"))
    assert ended.code == 0, ended.stderr
    assert not list(tmp_path.glob("*.seal"))


@pytest.mark.parametrize("variance", ["nan", "-1", "inf"])
def test_a_variance_that_is_none_is_refused(plan, variance):
    ended = here("harness", "check", str(plan()), "--variance", variance)
    assert ended.code == 2
    assert "variance" in ended.stderr
