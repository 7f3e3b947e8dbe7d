"""Campaigns edited on pages: every entry of the file, drafts, the public page and its picture (P-35, P-36)."""

from __future__ import annotations

import io
import re
import tomllib

import pytest
from PIL import Image

from basanite.campaign.office import COMMAND
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.server.pages.entry_form import KINDS

SCRIPT = "<script>alert(1)</script> [press](javascript:alert(2)) ![x](https://elsewhere.example/x.png) **bold**"


def picture(size=(40, 30), kind="PNG"):
    out = io.BytesIO()
    Image.new("RGB", size, "gold").save(out, kind)
    return out.getvalue()


def current_file(eva):
    newest = re.search(r"/plan/(\d+)\.toml", eva.page("/plan"))[1]
    return tomllib.loads(eva.get(f"/campaigns/small/organise/plan/{newest}.toml").text)


@pytest.mark.req("P-35", case="good")
def test_every_entry_of_the_file_has_a_field_and_a_change_keeps_the_rest(desk):
    eva = desk()
    overview = eva.page("/edit")
    for table in KINDS:
        assert f"/organise/edit/{table}" in overview, table
    before = current_file(eva)
    answer = eva.act("/edit/packs/EVAL2", title="More test data")
    assert "Saved as version 2" in answer.text
    after = current_file(eva)
    assert after["packs"][-1]["title"] == "More test data"
    assert after | {"packs": before["packs"]} == before
    assert "Nothing changed" in eva.act("/edit/packs/EVAL2", title="More test data").text
    made = eva.act("/edit/milestones", id="visit", title="Site visit", at="2018-06-01T09:30")
    assert "Saved as version 3" in made.text
    assert current_file(eva)["milestones"][-1] == {"id": "visit", "title": "Site visit", "at": "2018-06-01 09:30"}
    eva.act("/edit/milestones/visit", "/edit/milestones/visit/remove", reason="cancelled")
    assert [one["id"] for one in current_file(eva)["milestones"]] == ["kickoff"]


@pytest.mark.req("P-35", case="bad")
def test_what_does_not_fit_stays_in_the_form_with_its_fix(desk):
    eva = desk()
    answer = eva.act("/edit/windows/week", closes="2018-01-01T00:00", opens="2018-02-01T00:00")
    assert answer.status_code == 422
    assert "closes before it opens" in answer.text
    assert 'value="2018-01-01T00:00"' in answer.text, "what was typed stays"
    frozen = eva.act("/edit/windows/dev", **{"quota.count": "7"})
    assert frozen.status_code == 422
    assert "changes the frozen plan" in frozen.text
    agreed = eva.act("/edit/windows/dev", **{"quota.count": "7", "reason": "more machines"})
    assert "Saved as version" in agreed.text
    assert "more machines" in eva.page("/plan")
    assert eva.act("/edit/windows/dev", **{"quota.types": "primary"}).status_code == 422
    assert eva.get("/campaigns/small/organise/edit/nothing").status_code == 404


@pytest.mark.req("P-35", case="bad")
def test_two_organizers_who_edit_at_once_overwrite_nothing(desk):
    eva, otto = desk(), desk("otto")
    version = re.search(r'name="version" value="(\d+)"', otto.page("/edit/about"))[1]
    eva.act("/edit/about", summary="Eva's words", contact="eva@example.org")
    kept = otto.act("/edit/about", description="Otto's text", version=version)
    assert "Saved as version" in kept.text, "different fields do not collide"
    assert current_file(otto)["about"] == {
        "summary": "Eva's words",
        "contact": "eva@example.org",
        "description": "Otto's text",
    }
    both = otto.act("/edit/about", summary="Otto's words", version=version)
    assert both.status_code == 409
    assert "Eva changed summary" in both.text
    assert "Otto&#39;s words" in both.text, "what was typed stays"
    assert "Eva&#39;s words" in both.text, "what is active is shown beside it"
    assert current_file(otto)["about"]["summary"] == "Eva's words"


@pytest.mark.req("P-36")
def test_the_public_page_shows_texts_and_never_runs_them(desk, visit):
    eva = desk()
    links = "Plan = https://example.org/plan?a=b"
    eva.act("/edit/about", summary="Search in speech", description=SCRIPT, contact="info@example.org", links=links)
    page = visit().get("/campaigns/small").text
    assert "Search in speech" in page
    assert "<strong>bold</strong>" in page
    assert "<script>alert" not in page
    assert "javascript:" not in re.sub(r"&lt;.*?&gt;", "", page).replace("[press](javascript:alert(2))", "")
    assert "<img" not in page
    assert 'href="mailto:info@example.org"' in page
    assert 'href="https://example.org/plan?a=b"' in page
    assert "2 teams" in page
    assert eva.act("/edit/about", links="Bad = javascript:alert(3)").status_code == 422


@pytest.mark.req("P-36")
def test_a_logo_is_a_picture_by_its_content(desk, visit):
    eva = desk()
    for content in (b"<svg onload=alert(1)>", b"GIF89a" + bytes(40), picture()[:60], b"\x89PNG\r\n\x1a\n" + bytes(99)):
        answer = eva.upload("/edit", "/logo", content, "logo.png")
        assert answer.status_code == 422, content[:10]
        assert "no picture" in answer.text
    assert visit().get("/campaigns/small/logo").status_code == 404
    assert eva.upload("/edit", "/logo", picture() + b"<script>", "logo.png").status_code == 200
    shown = visit().get("/campaigns/small/logo")
    assert shown.headers["content-type"] == "image/png"
    assert b"<script>" not in shown.content, "only the picture itself is kept"
    assert Image.open(io.BytesIO(shown.content)).size == (40, 30)
    assert "/campaigns/small/logo?v=" in visit().get("/campaigns/small").text


@pytest.mark.req("P-35", "P-5")
def test_a_draft_exists_for_its_organizers_alone(desk, visit, stage):
    otto = desk("otto")
    assert otto.get("/new-campaign").status_code == 403, "making a campaign takes an administrator"
    with stage.office.writing() as session:
        grant(session, stage.office, COMMAND, RoleGrant(stage.season.eva, "administrator"))
    eva = desk()
    given = {"template": "blind", "title": "Secret plans", "task": "classification", "zone": "Europe/Paris"}
    late = eva.send("/new-campaign", opens="2018-03-01T00:00", closes="2018-02-01T00:00", **given)
    assert late.status_code == 422
    assert "Secret plans" in late.text, "what was typed stays"
    made = eva.send("/new-campaign", opens="2018-03-01T00:00", closes="2018-04-01T00:00", **given)
    assert "Setup checklist" in made.text
    assert "Europe/Paris" in eva.get("/campaigns/secret-plans/organise/plan").text
    assert visit().get("/campaigns/secret-plans").status_code == 404
    assert visit("ada").get("/campaigns/secret-plans/leaderboard").status_code == 404
    assert "Secret plans" not in visit("ada").get("/").text
    listed = visit().client.get("/api/v1/campaigns").json()
    assert [one["slug"] for one in listed] == ["small"]
    eva.send("/campaigns/secret-plans/organise/publish")
    assert "Secret plans" in visit().get("/").text
