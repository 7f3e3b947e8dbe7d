"""Submissions, appeals, re-scoring, release and the report on the organisers' pages."""

from __future__ import annotations

import io
import json
import re

import pytest
from pptx import Presentation
from sqlalchemy import select
from tests.server.pages.organiser.conftest import DESK, MORE

from basanite.campaign.actions import appeals
from basanite.campaign.actions.releases import LevelRelease, release
from basanite.campaign.store.tables import Appeal, Approval, Batch, Charge, Release, Submission, Team

CERTIFIED = "2018-04-20 12:00"


def standing(stage, run):
    with stage.office.reading() as session:
        row = session.get(Submission, run)
        return row.standing, row.type, row.admitted is not None


@pytest.fixture
def week(stage, clock):
    """Both teams have a primary run in the blind week, which is over."""
    clock.set("2018-04-03 12:00")
    runs = {
        team: stage.submit(team=team, file=file, label=team)
        for team, file in (("alpha", "perfect"), ("beta", "silent"))
    }
    clock.set("2018-04-10 12:00")
    return runs


@pytest.mark.req("P-7")
def test_submissions_of_all_teams_are_listed_and_filtered(desk, visit, stage):
    stage.submit(team="alpha", file="perfect", label="alphaone")
    stage.submit(team="beta", file="invalid", label="betaone")
    eva = desk()
    every = eva.page("/submissions")
    assert "alphaone" in every
    assert "betaone" in every
    for query, there, away in (
        ("state=invalid", "betaone", "alphaone"),
        ("state=scored", "alphaone", "betaone"),
        (f"team={stage.season.alpha}", "alphaone", "betaone"),
        ("window=week", "No submissions match these filters", "alphaone"),
        ("standing=withdrawn", "No submissions match these filters", "alphaone"),
    ):
        page = eva.page(f"/submissions?{query}")
        assert there in page, query
        assert away not in page.replace('value="', ""), query
    assert visit("ada").get(f"{DESK}/submissions").status_code == 403


@pytest.mark.req("P-23")
def test_a_run_is_withdrawn_or_voided_after_a_confirmation_with_a_reason(desk, stage):
    run, other = stage.submit(file="perfect"), stage.submit(file="perfect", kind="contrastive")
    eva = desk()
    assert "is excluded from all comparisons" in eva.page(f"/submissions/{run}/withdraw")
    assert eva.act(f"/submissions/{run}/withdraw", reason=" ").status_code == 422
    assert standing(stage, run)[0] == "on time"
    assert "is withdrawn" in eva.act(f"/submissions/{run}/withdraw", reason="the team asked").text
    assert "is disqualified" in eva.act(f"/submissions/{other}/void", reason="copied").text
    assert (standing(stage, run)[0], standing(stage, other)[0]) == ("withdrawn", "disqualified")
    again = eva.act(f"/submissions/{run}/void", reason="twice")
    assert again.status_code == 409
    assert "twice" in again.text, "what was typed stays"


@pytest.mark.req("C46")
def test_a_run_is_made_primary_after_closing(desk, stage, clock):
    clock.set("2018-04-03 12:00")
    run = stage.submit(file="perfect", kind="contrastive")
    eva = desk()
    assert eva.act(f"/submissions/{run}/primary", reason="they forgot").status_code == 409
    clock.set("2018-04-10 12:00")
    eva = desk()
    assert "1 team has no primary run" in eva.page("/release/week/certification")
    assert "now the primary run of its team" in eva.act(f"/submissions/{run}/primary", reason="they forgot").text
    assert standing(stage, run)[1] == "primary"


def test_an_attempt_is_given_back(desk, stage):
    run = stage.submit(file="perfect")
    assert "given back" in desk().act(f"/submissions/{run}/refund", reason="our disk").text
    with stage.office.reading() as session:
        assert session.scalars(select(Charge.state)).one() == "refunded"


def test_a_run_or_an_act_that_is_not_there_is_not_found(desk, stage):
    run = stage.submit(file="perfect")
    for path in ("/submissions/none", "/submissions/none/void", f"/submissions/{run}/eat"):
        assert desk().get(DESK + path).status_code == 404
        assert desk().act("", path, reason="x").status_code in (404, 405)


@pytest.mark.req("M70", "P-24")
def test_results_are_released_level_by_level_and_each_is_confirmed(desk, visit, stage, week, clock):
    eva = desk()
    early = eva.page("/release/week/top")
    assert "Blockers" in early
    assert "certification" in early
    assert "Release now" not in early, "there is no button to press"
    assert eva.act("/release/week/certification", "/release/week/top").status_code == 409
    assert "Released." in eva.act("/release/week/certification", reason="as planned").text
    stage.do(
        appeals.open_appeal,
        stage.season.as_ada,
        stage.season.campaign_id,
        appeals.Objection("week", "Document 7 is wrong"),
    )
    clock.set(CERTIFIED)
    eva = desk()
    page = eva.page("/release/week/top")
    assert "1 open appeal" in page
    assert "Document 7 is wrong" in page
    assert "2 PIs have not certified" in page
    for level in ("top", "details", "public"):
        assert "Released." in eva.act(f"/release/week/{level}").text
        assert eva.get(f"{DESK}/release").text.count("released") >= 1
    with stage.office.reading() as session:
        rows = {row.level: row for row in session.scalars(select(Release))}
    assert set(rows) == {"certification", "top", "details", "public"}
    assert rows["top"].open_appeals == [1]
    assert "1.0000" in visit("bea").get("/campaigns/small/leaderboard?of=week|CLIR|1A|").text


def test_a_level_that_does_not_exist_is_not_found(desk):
    assert desk().get(f"{DESK}/release/week/everything").status_code == 404
    assert desk().get(f"{DESK}/release/never/top").status_code == 404


class TestTwoPeople:
    @pytest.fixture
    def campaign(self):
        return {"two_people": ("release", "reference"), "more": MORE}

    @pytest.mark.req("X-4")
    def test_a_release_waits_for_a_second_organiser(self, desk, visit, stage, week):
        asked = desk().act("/release/week/certification", reason="as planned")
        assert "waits for a second organizer" in asked.text
        with stage.office.reading() as session:
            assert session.scalars(select(Release)).all() == []
            act = session.scalars(select(Approval.id)).one()
        otto = desk("otto")
        assert "To each PI, for certification" in otto.page("/approvals")
        assert "done in both names" in otto.act("/approvals", f"/approvals/{act}", agree="yes").text
        assert "1.0000" in visit("ada").get("/campaigns/small/certification/week").text


def fixed(stage, tmp_path):
    """A version of the key in which the perfect run is not perfect any more."""
    folder = tmp_path / "fixed"
    folder.mkdir()
    for path in sorted(stage.pack.key.iterdir()):
        (folder / path.name).write_text(path.read_text().replace("\tY", "\tN", 1))
    return stage.add_reference("EVAL1", folder, reason="one label was wrong")


@pytest.mark.req("P-7", "P-24")
def test_an_appeal_is_upheld_previewed_and_applied(desk, visit, stage, week, clock, tmp_path):
    stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("week", "certification"))
    stage.do(
        appeals.open_appeal,
        stage.season.as_ada,
        stage.season.campaign_id,
        appeals.Objection("week", "A label is wrong"),
    )
    version, eva = fixed(stage, tmp_path), desk()
    assert "A label is wrong" in eva.page("/appeals")
    assert eva.act("/appeals", "/appeals/1", decision="uphold", reason="").status_code == 422
    assert eva.act("/appeals", "/appeals/1", decision="uphold", reason="x", reference="other").status_code == 404
    upheld = eva.act("/appeals", "/appeals/1", decision="uphold", reason="it is", reference=version)
    assert "is upheld" in upheld.text
    with stage.office.reading() as session:
        batch = session.scalars(select(Batch.id)).one()
    assert "Still to compute" in eva.page(f"/rescoring/{batch}")
    assert eva.act(f"/rescoring/{batch}/apply").status_code == 409, "it is still being computed"
    stage.score_batch(batch)
    page = eva.page(f"/rescoring/{batch}")
    assert "to be reviewed" in page
    assert "Before and after" in page
    assert "1.0000" in visit("ada").get("/campaigns/small/certification/week").text, "a preview changes nothing"
    assert "Values that change" in eva.page(f"/rescoring/{batch}/apply")
    assert "new results are now active" in eva.act(f"/rescoring/{batch}/apply").text
    assert "1.0000" not in visit("ada").get("/campaigns/small/certification/week").text
    with stage.office.reading() as session:
        assert session.scalars(select(Appeal.state)).one() == "upheld"


def test_a_rescoring_is_previewed_renewed_and_cancelled(desk, stage, week, tmp_path):
    version, eva = fixed(stage, tmp_path), desk()
    assert eva.act("/rescoring", reference=version, reason="").status_code == 422
    assert "being computed" in eva.act("/rescoring", reference=version, reason="labels").text
    with stage.office.reading() as session:
        batch = session.scalars(select(Batch.id)).one()
    assert eva.act(f"/rescoring/{batch}", f"/rescoring/{batch}/renew").status_code == 200
    assert "Nothing has changed" in eva.act(f"/rescoring/{batch}/cancel").text
    assert eva.act(f"/rescoring/{batch}/cancel").status_code == 409
    for path in ("/rescoring/none", "/rescoring/none/apply"):
        assert eva.get(DESK + path).status_code == 404
    assert eva.act("/rescoring", reference="other", reason="x").status_code == 404


def test_an_appeal_is_refused_with_a_reason_that_the_team_reads(desk, visit, stage, week):
    stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("week", "certification"))
    stage.do(appeals.open_appeal, stage.season.as_ada, stage.season.campaign_id, appeals.Objection("week", "Something"))
    answer = desk().act("/appeals", "/appeals/1", decision="refuse", reason="the guideline says so")
    assert "Declined" in answer.text
    assert "the guideline says so" in visit("ada").get("/campaigns/small/certification/week").text
    assert desk().act("/appeals", "/appeals/9", decision="refuse", reason="x").status_code == 404
    report = desk().client.get(f"{DESK}/report/file?kind=html").text
    told = report[report.index("Reason for the decision") :]
    assert "Evaluation week" in told[: told.index("the guideline says so")], "the title of the window, not its id"


@pytest.mark.req("P-7", "P-18")
def test_the_report_of_the_campaign_is_one_click(desk, stage, week):
    stage.compare_all()
    eva = desk()
    assert "Evaluation week" in eva.page("/report")
    page = eva.client.get(f"{DESK}/report/file?kind=html")
    assert "attachment" in page.headers["content-disposition"]
    for word in ("Alpha", "Beta", "Participation", "Deviations", "1.0000", "<svg"):
        assert word in page.text, word
    slides = Presentation(io.BytesIO(eva.client.get(f"{DESK}/report/file?kind=pptx").content))
    assert len(slides.slides) > 4
    data = json.loads(eva.client.get(f"{DESK}/report/file?kind=json").content)
    assert {row["name"] for board in data["boards"] for row in board["rows"]} == {"Alpha", "Beta"}


@pytest.mark.req("P-25")
def test_the_public_report_holds_nothing_that_is_not_released_and_no_name_without_consent(desk, stage, week, clock):
    eva = desk()
    before = eva.client.get(f"{DESK}/report/file?kind=html&public=true").text
    assert "1.0000" not in before
    clock.set(CERTIFIED)
    for level in ("certification",):
        stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("week", level))
    clock.set("2018-05-01 12:00")
    for level in ("top", "public"):
        stage.do(release, stage.season.as_eva, stage.season.campaign_id, LevelRelease("week", level))
    with stage.office.reading() as session:
        hidden = [(row.name, row.pseudonym) for row in session.scalars(select(Team))]
    for kind in ("html", "csv", "json"):
        after = desk().client.get(f"{DESK}/report/file?kind={kind}&public=true").text
        after = re.sub(r"<script(?! id).*?</script>", "", after, flags=re.S)
        for name, pseudonym in hidden:
            assert name not in after
            assert pseudonym in after


def test_the_judging_page_says_what_is_planned(desk):
    assert "No judges yet" in desk().page("/judging")
