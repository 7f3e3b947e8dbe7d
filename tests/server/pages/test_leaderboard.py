"""Boards that people want to show: columns, which run stands there, exports, and the board at a moment (P-38, P-39)."""

from __future__ import annotations

import csv
import io
import re

import pytest
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.server.accounts.conftest import Browser
from tests.server.pages.conftest import give_passwords

from basanite.campaign.actions import plans
from basanite.campaign.actions.campaigns import Edit, edit_plan
from basanite.campaign.office import COMMAND
from basanite.campaign.store.tables import Release

ADDRESS = "/campaigns/small/leaderboard"
OF = "dev|CLIR|1A|"


def fill_by(stage, which):
    with stage.office.writing() as session:
        slug = stage.season.campaign_id
        edit_plan(session, stage.office, COMMAND, slug, Edit("windows/dev", {"board": which}, reason="see progress"))
        assert plans.current(session, slug).campaign.window("dev").board == which


def release(stage, *levels):
    with stage.office.writing() as session:
        for level in levels:
            at = stage.office.clock()
            facts = {"window": "dev", "level": level, "by": stage.season.eva, "reason": "x", "open_appeals": []}
            session.add(Release(campaign_id=stage.season.campaign_id, seconded_by=None, at=at, **facts))


@pytest.fixture
def runs(stage, clock):
    """Alpha sends a perfect run and then a silent one, Beta a silent one; gives the moment after the first."""
    stage.submit(label="perfect", kind="contrastive")
    moment = clock()
    clock.forward(hours=1)
    stage.submit(file="silent", label="silent", kind="contrastive")
    stage.submit("beta", file="silent", label="beta", kind="contrastive")
    return moment


def table(browser, path):
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text[:300]
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.mark.req("P-38")
def test_a_development_board_shows_the_best_or_the_latest_run_of_each_team(visit, stage, runs):
    release(stage, "top", "public")
    assert "No primary runs" in visit("ada").get(f"{ADDRESS}?of={OF}").text
    for which, label in (("best", "perfect"), ("latest", "silent")):
        fill_by(stage, which)
        rows = table(visit("ada"), f"{ADDRESS}.csv?of={OF}")
        assert label in [row["system"] for row in rows], which
        own = next(row for row in rows if row["system"] == label)
        assert float(own["aqwv"]) == (1.0 if which == "best" else 0.0)


@pytest.mark.req("P-38", "P-39")
def test_a_board_has_columns_tabs_a_filter_and_a_moment(visit, stage, runs):
    release(stage, "top", "details", "public")
    fill_by(stage, "latest")
    ada = visit("ada")
    page = ada.get(f"{ADDRESS}?of={OF}").text
    assert 'aria-current="page"' in page
    assert "The latest run of each team" in page
    assert "interim" in page
    assert "No name contains" in ada.get(f"{ADDRESS}?of={OF}&q=nobody").text
    then = f"{runs:%Y-%m-%dT%H:%M:%SZ}"
    before = table(ada, f"{ADDRESS}.csv?of={OF}&at={then}")
    assert [row["system"] for row in before] == ["perfect"], "the board at a moment holds what was there by then"
    assert ada.get(f"{ADDRESS}?of={OF}&at=yesterday").status_code == 422
    api = ada.client.get(f"/api/v1{ADDRESS}?window=dev&task=CLIR&language=1A").json()
    assert api["fill"] == "latest"
    assert api["metrics"][0] == "aqwv"


@pytest.mark.req("P-39")
def test_other_sites_may_show_a_board_as_any_visitor_sees_it_and_no_other_page(visit, stage, runs):
    fill_by(stage, "best")
    hidden = visit("ada").get(f"{ADDRESS}/embed?of={OF}")
    assert "Nothing is released yet" in hidden.text, "even to a member: what is embedded is what everybody sees"
    release(stage, "top", "public")
    shown = visit().get(f"{ADDRESS}/embed?of={OF}")
    assert "frame-ancestors *" in shown.headers["content-security-policy"]
    assert "<form" not in shown.text
    assert "set-cookie" not in shown.headers
    assert "1.000" in shown.text
    assert "frame-ancestors 'none'" in visit().get(ADDRESS).headers["content-security-policy"]
    badge = visit().get(f"/campaigns/small/badge.svg?of={OF}")
    assert badge.headers["content-type"] == "image/svg+xml"
    assert "2 systems" in badge.text
    assert "<script" not in visit().get(f"/campaigns/small/badge.svg?of={OF}&team=<script>").text
    assert visit().get(f"{ADDRESS}/embed?of=none|CLIR||").status_code == 404


@pytest.mark.req("P-41")
def test_a_team_takes_its_result_along_as_far_as_its_feedback_goes(visit, stage, runs):
    ada = visit("ada")
    run = re.findall(r"/campaigns/small/submissions/(\w+)\"", ada.get("/campaigns/small/submissions").text)[-1]
    base = f"/campaigns/small/submissions/{run}"
    for kind, begins in (("html", b"<!doctype html"), ("csv", b"system,metric"), ("json", b"{"), ("pptx", b"PK")):
        file = ada.get(f"{base}/result.{kind}")
        assert file.status_code == 200, kind
        assert file.content.lower().startswith(begins.lower()), kind
        assert f"result-1.{kind}" in file.headers["content-disposition"]
    data = ada.client.get(f"{base}/result.json").json()
    assert data["values"]["aqwv"]["value"] == 1.0
    assert f"{base}/result.html" in ada.get(base).text
    assert visit("bea").get(f"{base}/result.json").status_code == 404, "others' results do not exist"
    assert visit().get(f"{base}/result.json").status_code in (303, 401)


OPEN_TRACK = """
[[tracks]]
id = "open"
title = "Open"
required = ["gpu_hours", "licence"]
"""


@pytest.fixture
def tracked(office, clock, pack):
    """A campaign with a track that requires two fields of the description; Alpha and Beta have runs on two days."""
    made = staged(office, clock, pack, then=give_passwords, more=OPEN_TRACK)
    fill_by(made, "best")
    costs = {"gpu_hours": "120", "licence": "MIT"}
    made.submit(file="silent", label="first", kind="contrastive", track="open", description=costs)
    clock.forward(days=2)
    made.submit("beta", file="silent", label="beta", kind="contrastive", track="open",
                description={"gpu_hours": "8.5", "licence": "7"})  # fmt: skip
    clock.forward(days=3)
    made.submit(label="second", kind="contrastive", track="open", description={"gpu_hours": "4e2", "licence": "MIT"})
    return made


def cells(page, anchor):
    """The rows of the table beside the chart after some words."""
    table_ = page.partition(anchor)[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table_, re.DOTALL)
    return [tuple(re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row)) for row in rows]


@pytest.mark.req("P-38")
def test_charts_show_the_season_and_quality_against_what_is_declared(app, tracked):
    release(tracked, "top", "details", "public")
    browser = Browser(TestClient(app))
    browser.sign_in("ada@example.org")
    of = "dev|CLIR|1A|open"
    page = browser.get(f"{ADDRESS}/charts?of={of}").text
    history = cells(page, "AQWV over time")
    assert {(row[0], float(row[2])) for row in history[1:]} == {("Alpha", 0.0), ("Alpha", 1.0), ("Beta", 0.0)}
    alpha = [row[1] for row in history if row[0] == "Alpha"]
    assert len(alpha) == 3
    assert float(alpha[2]) - float(alpha[0]) == pytest.approx(5, abs=0.02)
    against = cells(page, "AQWV against gpu_hours")
    assert {row[0]: float(row[1].replace(",", "")) for row in against[1:]} == {"Alpha": 400.0, "Beta": 8.5}
    assert "licence" not in re.findall(r"AQWV against (\w+)", page), "only one system declares a number there"
    other = browser.get(f"{ADDRESS}/charts?of={of}&cost=mqwv").text
    assert "AQWV against MQWV" in other
    assert browser.get(f"{ADDRESS}/charts?of=none|CLIR||").status_code == 404
    hidden = Browser(TestClient(app)).get(f"{ADDRESS}/charts?of={of}").text
    assert "400" not in hidden, "who is under a pseudonym is not drawn: the day of a run could tell whose it is"
    assert "No two systems declare a number" in hidden
