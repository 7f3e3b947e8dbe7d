"""What a plan lets teams learn about sealed references: printed by the rehearsal, warned about when it is added."""

from __future__ import annotations

import pytest
from tests.cli.running import here

from basanite.synthetic.clir import Spec, write_key
from basanite.testing import small_campaign_text


def write_plan(folder, more=""):
    text = small_campaign_text(quota=100).replace("sealed = false", "sealed = true", 1)
    (folder / "plan.toml").write_text(text.replace('feedback = "full"', f'feedback = "limited"\n{more}', 1))


def rehearsed(folder, *more):
    ended = here("admin", "rehearse", "plan.toml", "--reference", "key", "--json", *more, cwd=folder)
    assert ended.code == 0, ended.stdout + ended.stderr
    (exposure,) = ended.data["exposure"]
    return exposure, ended.data["warnings"]


@pytest.mark.req("X-23")
def test_the_rehearsal_prints_what_a_prober_recovers_with_the_quota_rounding_and_ladder_of_the_plan(tmp_path):
    write_key(Spec(queries=4, documents=24, seed=5), tmp_path / "key")
    write_plan(tmp_path)
    bounded, warnings = rehearsed(tmp_path)
    assert (bounded["attempts"], bounded["looks"], bounded["ladder"], warnings) == (1300, 10, 1290, [])
    write_plan(tmp_path, "looks = false\nladder = false")
    off, warnings = rehearsed(tmp_path)
    assert [(one["rule"], one["severity"]) for one in warnings] == [("X-23", "warn")]
    few, most = bounded["recovered"], off["recovered"]
    assert few["relevant"] == most["relevant"] > 5
    assert most["hits"] >= 0.8 * most["relevant"], "nothing holds the prober back"
    assert few["hits"] <= few["relevant"] / 4
    assert off["bits"] > 10 * bounded["bits"]
    assert not few["made_up"]
    words = here("admin", "rehearse", "plan.toml", "--reference", "key", cwd=tmp_path).stdout
    assert f"a simulated attacker found {most['hits']} of {most['relevant']} relevant documents" in words
    assert "Warning: dev: a team can see 1,300 results of CLIR on a sealed reference" in words


def test_without_a_reference_the_prober_is_simulated_on_a_made_up_one(tmp_path):
    write_plan(tmp_path, "looks = 2\nladder = 50")
    ended = here("admin", "rehearse", "plan.toml", "--json", cwd=tmp_path)
    (one,) = ended.data["exposure"]
    assert (one["recovered"]["made_up"], one["recovered"]["labels"], one["looks"]) == (True, 1200, 2)


def test_a_reference_that_cannot_be_read_is_told_with_its_problem(tmp_path):
    write_plan(tmp_path)
    (tmp_path / "key").mkdir()
    ended = here("admin", "rehearse", "plan.toml", "--reference", "key", cwd=tmp_path)
    assert (ended.code, "holds no files" in ended.stdout + ended.stderr) == (1, True)


def test_settings_of_scoring_that_cannot_be_used_are_told_and_names_of_documents_need_not_fit_a_made_up_key(tmp_path):
    write_key(Spec(queries=2, documents=8, seed=5), tmp_path / "key")
    write_plan(tmp_path, 'looks = 1\nladder = 50\nsettings = { document_pattern = "(" }')
    wrong = here("admin", "rehearse", "plan.toml", "--reference", "key", cwd=tmp_path)
    assert (wrong.code, "not a regular expression" in wrong.stderr) == (2, True)
    write_plan(tmp_path, 'looks = 1\nladder = 50\nsettings = { document_pattern = "D[0-9]+" }')
    assert here("admin", "rehearse", "plan.toml", cwd=tmp_path).code == 0


@pytest.mark.req("X-23")
def test_a_plan_that_turns_both_off_is_taken_with_a_warning_that_says_what_to_do(tmp_path):
    write_plan(tmp_path, "looks = false\nladder = false")
    added = here("admin", "campaign", "add", "plan.toml", "--data", "season", cwd=tmp_path)
    assert added.code == 0, added.stdout + added.stderr
    assert "Warning: dev: a team can see 1,300 results" in added.stdout
    write_plan(tmp_path)
    changed = here(
        "admin", "campaign", "change", "plan.toml", "--reason", "safer", "--data", "season", "--json", cwd=tmp_path
    )
    assert (changed.code, changed.data["warnings"]) == (0, [])
