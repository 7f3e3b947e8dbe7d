"""Everything that anybody sees of results goes through the policy: by role, by window, by moment."""

import pytest
from tests.campaign.staging import WRITTEN

import basanite
from basanite.campaign.actions import plans, releases
from basanite.campaign.jobs.scoring_process import material, order, run_order
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.roles import viewer
from basanite.campaign.results import visibility
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.store.tables import Submission


def looking(stage, who):
    with stage.office.reading() as session:
        return viewer(session, stage.season.campaign_id, getattr(stage.season, who))


def result(stage, who, submission):
    with stage.office.reading() as session:
        seen = who if isinstance(who, Viewer) else looking(stage, who)
        return visibility.result(session, stage.office, seen, submission)


def one(stage, who, submission):
    with stage.office.reading() as session:
        return visibility.submission(session, stage.office, looking(stage, who), submission)


def test_a_window_with_full_feedback_shows_the_own_team_values_intervals_and_breakdowns(stage):
    run = stage.submit("alpha", "perfect")
    seen = result(stage, "ada", run)
    assert (seen.level, seen.value) == ("full", 1.0)
    assert {"low", "high", "units"} <= set(seen.data["values"]["aqwv"])
    assert {"genre", "mode"} <= set(seen.data["breakdowns"])
    assert one(stage, "alan", run).state == "scored"


def test_every_result_carries_plan_beta_key_version_and_tool_version(stage):
    seen = result(stage, "ada", stage.submit()).provenance
    assert (seen.plan, seen.plan_version, seen.reference_version) == ("6.0.4", 1, 1)
    assert seen.software == basanite.__version__
    assert seen.settings["beta"] == 20.0
    assert "seed" not in seen.settings


@pytest.mark.parametrize("who", ["bea", VISITOR])
def test_other_teams_and_visitors_do_not_learn_that_a_submission_exists(stage, who):
    run = stage.submit("alpha")
    with pytest.raises(RefusedError) as refusal:
        result(stage, who, run)
    assert refusal.value.status == 404


def test_a_stored_result_is_made_again_from_the_stored_archive_byte_for_byte(stage):
    WRITTEN.clear()  # so that the result is one of this campaign, with its own seed
    run = stage.submit("alpha", "perfect")
    with stage.office.reading() as session:
        submission, held = session.get(Submission, run), adopted_results(session, [run])[run]
        used = material(session, stage.office, submission, reference_id=held.reference_id)
    with run_order(stage.office, order(stage.office, "score", submission, used)) as outcome:
        again = outcome.path("result.json").read_bytes()
    assert again == stage.office.files.read(held.digest)
    assert used.key(submission) == held.key


def test_breakdowns_are_by_genre_mode_kind_subtype_domain_words_and_tags_of_the_organiser(stage):
    seen = result(stage, "ada", stage.submit())
    assert set(seen.data["breakdowns"]) >= {"genre", "mode", "kind", "subtype", "domain", "words"}
    cell = next(iter(seen.data["breakdowns"]["genre"].values()))["aqwv"]
    assert {"value", "low", "high", "units"} <= set(cell)


def test_limited_feedback_is_three_values_to_three_decimals_with_one_fixed_half_width(stage):
    with stage.office.writing() as session:
        text = plans.newest_version(session, stage.season.campaign_id).text
        text = text.replace('feedback = "full"', 'feedback = "limited"')
        plans.change_plan(session, stage.office, stage.season.as_eva, "small", text, reason="less")
    seen = result(stage, "ada", stage.submit())
    assert seen.level == "limited"
    assert set(seen.data["values"]) == {"aqwv", "aqwv_all", "aqwv_relevant"}
    assert {tuple(sorted(entry)) for entry in seen.data["values"].values()} == {("half_width", "value")}
    assert len({entry["half_width"] for entry in seen.data["values"].values()}) == 1
    assert (seen.key, "breakdowns" in seen.data) == ("", False)


def test_pages_of_submissions_go_on_where_the_last_one_ended(both):
    runs = [both.submit(label=label, kind="contrastive") for label in ("one", "two", "three")]
    with both.office.reading() as session:
        ada, campaign = viewer(session, both.season.campaign_id, both.season.ada), both.season.campaign_id
        first = visibility.submissions(session, both.office, ada, campaign, visibility.SubmissionFilter(limit=2))
        last = (first[-1].received, first[-1].id)
        rest = visibility.submissions(session, both.office, ada, campaign, visibility.SubmissionFilter(before=last))
        bea = viewer(session, campaign, both.season.bea)
        assert {one.id for one in (*first, *rest)} == set(runs)
        assert len(first) == 2
        assert visibility.submissions(session, both.office, bea, campaign) == ()
        assert (
            visibility.submissions(
                session, both.office, bea, campaign, visibility.SubmissionFilter(team_id=both.season.alpha)
            )
            == ()
        )


def titles(stage, who, submission):
    with stage.office.reading() as session:
        return [one.title for one in visibility.figures(session, stage.office, looking(stage, who), submission)]


CURVES = ["Value over threshold", "Where the value is lost", "Misses against false alarms (DET)"]


def test_curves_are_shown_with_full_feedback_on_an_open_set_to_the_own_team_alone(stage):
    run = stage.submit("alpha", "perfect")
    assert titles(stage, "ada", run) == CURVES
    assert titles(stage, "eva", run) == CURVES
    with pytest.raises(RefusedError):
        titles(stage, "bea", run)


def test_curves_of_a_sealed_set_wait_for_the_release_of_details(stage):
    stage.clock.set("2018-04-04 12:00")
    run = stage.submit("alpha", "perfect", dataset="EVAL1")
    assert titles(stage, "ada", run) == []
    stage.clock.set("2018-04-20 12:00")
    for level, seen in (("certification", False), ("top", False), ("details", True)):
        stage.do(releases.release, stage.season.as_eva, stage.season.campaign_id, releases.LevelRelease("week", level))
        stage.clock.set("2018-05-20 12:00")
        assert bool(titles(stage, "ada", run)) == seen, level


def test_an_organiser_of_another_campaign_is_a_stranger_here(stage):
    run = stage.submit("alpha")
    foreign = Viewer("somebody", frozenset({"evaluation"}), campaign="another campaign")
    for ask in (visibility.submission, visibility.results, visibility.result, visibility.run_view):
        with stage.office.reading() as session, pytest.raises(RefusedError) as refusal:
            ask(session, stage.office, foreign, run)
        assert refusal.value.status == 404
