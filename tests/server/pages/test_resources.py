"""The register of resources by page, API and command, and the primary run that a team chooses (M93, C46, D-11)."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from tests.cli.running import here
from tests.server.conftest import with_token

HOME = "/campaigns/small"
API = "/api/v1/campaigns/small"
REGISTER = f"{HOME}/resources"
ENTRY = re.compile(r'id="r-([0-9a-f]+)"')


@pytest.fixture
def api(app, stage):
    """A program with a token of somebody: `api("ada")`."""

    def opened(who):
        token = with_token(stage.office, getattr(stage.season, who))
        return TestClient(app, headers={"Authorization": f"Bearer {token}"})

    return opened


@pytest.mark.req("M93")
@pytest.mark.req("D-11")
def test_a_team_declares_shares_and_withdraws_a_resource_on_its_page(visit):
    ada = visit("ada")
    assert f'href="{REGISTER}"' in ada.get(f"{HOME}/team").text
    fields = {"kind": "purchased", "description": "a Swahili dictionary", "language": "1A", "used_in": ""}
    page = ada.send(REGISTER, **fields).text
    assert "a Swahili dictionary" in page
    assert "overdue" in page
    assert "Share a resource of your team" in ada.get(HOME).text
    assert "a Swahili dictionary" not in visit("bea").get(REGISTER).text
    (entry,) = ENTRY.findall(page)
    page = ada.send(REGISTER, f"{REGISTER}/{entry}/share", where="https://data.example/dictionary").text
    assert "overdue" not in page
    assert "Share a resource of your team" not in ada.get(HOME).text
    others = visit("bea").get(REGISTER).text
    assert "a Swahili dictionary" in others
    assert "https://data.example/dictionary" in others
    assert "Alpha" not in others
    assert visit("bea").send(REGISTER, f"{REGISTER}/{entry}/withdraw").status_code == 404
    assert "a Swahili dictionary" not in ada.send(REGISTER, f"{REGISTER}/{entry}/withdraw").text


@pytest.mark.req("M93")
def test_a_form_that_cannot_be_taken_says_why_and_keeps_what_was_typed(visit):
    answer = visit("ada").send(REGISTER, kind="harvested", description="pages of a newspaper", used_in="")
    assert answer.status_code == 422
    assert "harvested data need a window" in answer.text
    assert "give the window in which it is first used" in answer.text
    assert "pages of a newspaper" in answer.text


@pytest.mark.req("M93")
@pytest.mark.req("D-11")
def test_a_program_declares_shares_and_withdraws_a_resource(api, stage):
    ada, bea, eva = api("ada"), api("bea"), api("eva")
    wanted = {"kind": "harvested", "description": "pages of a newspaper", "used_in": "dev"}
    made = ada.post(f"{API}/resources", json=wanted)
    assert made.status_code == 201
    entry = made.json()
    assert (entry["share_by"], entry["overdue"]) == ("2018-04-01T04:00:00Z", False)
    assert ada.post(f"{API}/resources", json=wanted | {"used_in": "no"}).status_code == 422
    stage.clock.set("2018-04-02 12:00")
    assert [one["overdue"] for one in eva.get(f"{API}/resources").json()] == [True]
    assert bea.get(f"{API}/resources").json() == []
    address = f"{API}/resources/{entry['id']}"
    assert bea.post(f"{address}/sharing", json={"where": "here"}).status_code == 404
    shared = ada.post(f"{address}/sharing", json={"where": "https://data.example"}).json()
    assert (shared["where"], shared["overdue"], shared["own"], shared["team"]) == (
        "https://data.example",
        False,
        True,
        "Alpha",
    )
    assert [(one["where"], one["team"]) for one in bea.get(f"{API}/resources").json()] == [("https://data.example", "")]
    assert ada.post(f"{address}/withdrawal").status_code == 204
    assert bea.get(f"{API}/resources").json() == []
    assert ada.post(f"{address}/withdrawal").status_code == 404


@pytest.mark.req("C46")
@pytest.mark.req("D-11")
def test_a_team_without_a_primary_run_is_warned_while_the_window_is_open_and_chooses_one(stage, visit, api):
    stage.clock.set("2018-04-05 12:00")
    first = stage.submit(label="first", kind="contrastive")
    second = stage.submit(label="second", kind="contrastive")
    ada, warning = visit("ada"), "no primary run in Evaluation week (CLIR)"
    assert warning in plain(ada.get(HOME).text)
    listed = plain(ada.get(f"{HOME}/submissions?window=week").text)
    assert warning in listed
    assert re.search(r"The window closes \w[^.]*\w\.\n", listed), "no space before the period"
    assert "Times in America/New_York, UTC, Europe/Paris." in listed
    assert warning not in plain(visit("bea").get(HOME).text)
    assert lacking(api("ada")) == ["CLIR"]
    assert lacking(api("bea")) == []
    page = f"{HOME}/submissions/{first}"
    assert "Make primary run" in ada.get(page).text
    assert visit("bea").send(f"{HOME}/team", f"{page}/primary").status_code == 404
    chosen = ada.send(page, f"{page}/primary")
    assert "now your team's primary run" in plain(chosen.text)
    assert warning not in plain(ada.get(HOME).text)
    assert lacking(api("ada")) == []
    assert "Make primary run" not in ada.get(f"{HOME}/submissions/{second}").text
    refusal = api("ada").put(f"{API}/submissions/{second}/primary")
    assert (refusal.status_code, refusal.json()["problems"][0]["rule"]) == (409, "M66")


@pytest.mark.req("C46")
@pytest.mark.req("M66", case="bad")
def test_a_run_that_was_made_primary_counts_as_the_one_primary_run_of_the_week(stage, api):
    stage.clock.set("2018-04-05 12:00")
    run, ada = stage.submit(label="first", kind="contrastive"), api("ada")
    assert ada.put(f"{API}/submissions/{run}/primary").json()["type"] == "primary"
    (mine,) = [one["mine"] for one in ada.get(f"{API}/windows").json() if one["id"] == "week"]
    assert [(one["left"], one["left_of"]["primary"]) for one in mine] == [(4, 0)]


@pytest.mark.req("C46")
def test_after_the_closing_an_organiser_names_the_primary_run_with_a_reason(stage, api):
    stage.clock.set("2018-04-05 12:00")
    run = stage.submit(label="first", kind="contrastive")
    address = f"{API}/submissions/{run}/primary"
    early = api("eva").post(address, json={"reason": "they forgot"})
    assert (early.status_code, early.json()["problems"][0]["rule"]) == (409, "C46")
    stage.clock.set("2018-04-10 12:00")
    late = api("ada").put(address)
    assert (late.status_code, late.json()["problems"][0]["fix"]) == (
        409,
        "ask the organizers to designate your primary run",
    )
    assert api("eva").post(address, json={"reason": ""}).status_code == 422
    assert api("eva").post(address, json={"reason": "they forgot"}).json()["type"] == "primary"


@pytest.mark.req("M93")
def test_an_organiser_keeps_the_register_for_a_team_by_command(stage):
    where = ("--data", str(stage.office.settings.data), "--json")
    stage.office.close()
    made = here("admin", "resource", "declare", "Alpha", "purchased", "a dictionary", *where)
    assert made.code == 0, made.stderr
    listed = here("admin", "resource", "list", "--overdue", *where).data["resources"]
    assert [(one["team"], one["description"]) for one in listed] == [("Alpha", "a dictionary")]
    assert here("admin", "resource", "share", "Alpha", "https://data.example", *where).code == 0
    assert here("admin", "resource", "list", "--overdue", *where).data["resources"] == []
    assert here("admin", "resource", "withdraw", "Alpha", *where).code == 0
    assert here("admin", "resource", "list", *where).data["resources"] == []
    assert here("admin", "resource", "withdraw", "Alpha", *where).code == 1


def lacking(program):
    """What a team has no primary run for in the week, as the list of windows says."""
    return next(one["without_primary"] for one in program.get(f"{API}/windows").json() if one["id"] == "week")


def plain(page):
    """The words of a page, without the marks that isolate strangers' words."""
    return re.sub("[\u2068\u2069]|<[^>]+>", "", page).replace("&#39;", "'")
