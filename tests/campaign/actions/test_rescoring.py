"""A re-scoring is looked at before it holds: no board changes until it is applied, and history keeps both."""

import shutil

import pytest

from basanite.campaign.actions import approvals, moves, plans, rescoring
from basanite.campaign.jobs.scoring_process import material
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.results import visibility
from basanite.campaign.results.facts import history
from basanite.campaign.store.tables import Batch, BatchItem, Message, Reference, Submission
from basanite.testing import small_campaign_text


@pytest.fixture
def other_key(pack, tmp_path):
    """A key in which the first document of every query is relevant, if it was not, and the other way round."""
    shutil.copytree(pack.key, tmp_path / "other")
    for path in (tmp_path / "other").iterdir():
        first, *rest = path.read_text().splitlines()
        turned = first.replace("\tY", "\t?").replace("\tN", "\tY").replace("\t?", "\tN")
        path.write_text("\n".join([turned, *rest]) + "\n")
    return tmp_path / "other"


def seen_value(stage, run):
    with stage.office.reading() as session:
        return visibility.result(session, stage.office, Viewer(team=stage.season.alpha), run).value


@pytest.fixture
def previewed(stage, other_key):
    """A perfect and a silent run, and a batch with another key that has been computed."""
    runs = stage.submit("alpha", "perfect"), stage.submit("beta", "silent")
    reference = stage.add_reference("DEV", other_key, reason="the first documents were mislabelled")
    batch = stage.do(rescoring.preview, stage.season.as_eva, reference, reason="mislabelled")
    stage.score_batch(batch.id)
    return stage, batch.id, runs


def test_a_preview_shows_what_changes_and_changes_nothing(previewed):
    stage, batch_id, (perfect, silent) = previewed
    with stage.office.reading() as session:
        batch = session.get(Batch, batch_id)
        assert batch.state == "ready"
        shown = {move.submission_id: move for move in moves.moves(session, batch)}
    assert shown[perfect].before == 1.0
    assert shown[perfect].after < 1.0
    assert (shown[silent].before, shown[silent].rank_before) == (0.0, 2)
    assert seen_value(stage, perfect) == 1.0


def test_applying_adopts_the_new_results_tells_the_teams_and_keeps_the_old_ones(previewed):
    stage, batch_id, (perfect, _) = previewed
    stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    assert seen_value(stage, perfect) < 1.0
    with stage.office.reading() as session:
        old, new = history(session, perfect)
        assert old.primary == 1.0 > new.primary
        versions = {row.version: row.state for row in session.query(Reference).filter(Reference.dataset == "DEV")}
        assert versions == {1: "superseded", 2: "active"}
        told = session.query(Message).filter(Message.template == "results_changed").all()
        assert {one.person_id for one in told} == {stage.season.ada, stage.season.alan, stage.season.bea}
        seen = visibility.results(session, stage.office, Viewer(team=stage.season.alpha), perfect)
        assert [one.superseded for one in seen] == [True, False]
    with pytest.raises(RefusedError):
        stage.do(rescoring.apply, stage.season.as_eva, batch_id)


def test_cancelling_leaves_everything_as_it_was(previewed):
    stage, batch_id, (perfect, _) = previewed
    stage.do(rescoring.cancel, stage.season.as_eva, batch_id)
    assert seen_value(stage, perfect) == 1.0
    with stage.office.reading() as session:
        assert len(history(session, perfect)) == 1
        states = [row.state for row in session.query(Reference).filter(Reference.dataset == "DEV")]
        assert sorted(states) == ["active", "refused"]


def test_a_batch_that_is_still_computed_cannot_be_applied(stage, other_key):
    stage.submit("alpha", "perfect")
    reference = stage.add_reference("DEV", other_key, reason="mislabelled")
    batch = stage.do(rescoring.preview, stage.season.as_eva, reference, reason="mislabelled")
    with pytest.raises(RefusedError, match="still being computed"):
        stage.do(rescoring.apply, stage.season.as_eva, batch.id)


def test_submissions_that_came_meanwhile_are_taken_in_before_it_is_applied(previewed):
    stage, batch_id, _ = previewed
    stage.submit("beta", "perfect", label="two", kind="contrastive")
    with pytest.raises(RefusedError, match="after this batch began"):
        stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    assert stage.do(rescoring.renew, stage.season.as_eva, batch_id).state == "running"
    stage.score_batch(batch_id)
    assert stage.do(rescoring.apply, stage.season.as_eva, batch_id).state == "applied"


def test_a_batch_that_another_one_overtook_is_computed_anew_before_it_is_applied(previewed, pack):
    stage, batch_id, (perfect, _) = previewed
    third = stage.add_reference("DEV", pack.key, reason="the first was right")
    other = stage.do(rescoring.preview, stage.season.as_eva, third, reason="the first was right")
    stage.score_batch(other.id)
    stage.do(rescoring.apply, stage.season.as_eva, other.id)
    with pytest.raises(RefusedError, match="newer results"):
        stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    assert stage.do(rescoring.renew, stage.season.as_eva, batch_id).state == "running"
    stage.score_batch(batch_id)
    with stage.office.reading() as session:
        held = history(session, perfect)[-1]
        old = {item.submission_id: item.old_key for item in rescoring.items(session, session.get(Batch, batch_id))}
    assert old[perfect] == held.key
    stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    assert seen_value(stage, perfect) < 1.0


def test_a_batch_whose_settings_changed_meanwhile_is_computed_anew_before_it_is_applied(previewed):
    stage, batch_id, _ = previewed
    text = small_campaign_text().replace('kind = "development"', 'kind = "development"\nsettings = { beta = 40.0 }')
    stage.do(plans.change_plan, stage.season.as_eva, "small", text, reason="another beta")
    with pytest.raises(RefusedError, match="the plan has changed"):
        stage.do(rescoring.apply, stage.season.as_eva, batch_id)


def test_a_batch_of_a_version_that_was_superseded_meanwhile_brings_it_not_back(previewed):
    stage, batch_id, (perfect, _) = previewed
    with stage.office.reading() as session:
        first = history(session, perfect)[0].reference_id
    again = stage.do(rescoring.preview, stage.season.as_eva, first, reason="to be sure")
    stage.score_batch(again.id)
    stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    with pytest.raises(RefusedError, match="superseded"):
        stage.do(rescoring.apply, stage.season.as_eva, again.id)


def test_scoring_again_with_the_same_truth_gives_the_same_key_and_the_same_bytes(stage):
    run = stage.submit("alpha", "perfect")
    with stage.office.reading() as session:
        (first,) = history(session, run)
        submission = session.get(Submission, run)
        again = material(session, stage.office, submission, reference_id=first.reference_id)
        assert again.key(submission) == first.key
    batch = stage.do(rescoring.preview, stage.season.as_eva, first.reference_id, reason="to be sure")
    stage.score_batch(batch.id)
    with stage.office.reading() as session:
        (item,) = session.query(BatchItem).filter(BatchItem.batch_id == batch.id)
        assert item.new_key == item.old_key == first.key
    stage.do(rescoring.apply, stage.season.as_eva, batch.id)
    with stage.office.reading() as session:
        assert len(history(session, run)) == 1


def test_replacing_a_reference_takes_two_people_where_the_campaign_says_so(previewed):
    stage, batch_id, (perfect, _) = previewed
    text = small_campaign_text(two_people=("reference",))
    stage.do(plans.change_plan, stage.season.as_eva, "small", text, reason="two are better")
    with pytest.raises(RefusedError, match="two people"):
        stage.do(rescoring.apply, stage.season.as_eva, batch_id)
    approval = stage.do(rescoring.ask_to_apply, stage.season.as_eva, batch_id)
    with pytest.raises(RefusedError):
        stage.do(approvals.agree, stage.season.as_eva, approval.id)
    with pytest.raises(RefusedError):
        stage.do(approvals.agree, stage.season.as_ada, approval.id)
    assert seen_value(stage, perfect) == 1.0
    stage.do(approvals.agree, Actor(stage.season.otto), approval.id)
    assert seen_value(stage, perfect) < 1.0
