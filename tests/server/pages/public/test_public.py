"""What everybody sees: nothing before it is released to the public, and names only as teams agreed (P-25)."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from tests.campaign.staging import staged
from tests.server.pages.conftest import give_passwords

from basanite.campaign.actions.releases import LevelRelease, release
from basanite.campaign.archive.publication import publish
from basanite.campaign.office import Actor
from basanite.campaign.people.teams import allow_naming
from basanite.campaign.store.tables import Team

HOME = "/campaigns/small"
LEVELS = ("certification", "top", "details", "public")


@pytest.fixture
def stage(office, clock, pack):
    made = staged(office, clock, pack, then=give_passwords)
    clock.set("2018-04-03 12:00")
    for team, file in (("alpha", "perfect"), ("beta", "silent")):
        made.submit(team=team, file=file, label=team, description={"text": f"The system of {team.title()}"})
    clock.set("2018-04-10 12:00")
    return made


def let_out(stage, clock, *levels):
    for level in levels:
        if level == "top":
            clock.set("2018-04-20 12:00")
        stage.do(release, Actor(stage.season.eva), stage.season.campaign_id, LevelRelease("week", level))


def pages(browser):
    """Everything that a visitor reaches from the results, files included."""
    import re

    seen, waiting = {}, [f"{HOME}/results", f"{HOME}/plan"]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen[path] = browser.get(path)
        found = re.findall(rf'href="({HOME}/(?:results|plan)[^"#]*)"', seen[path].text)
        waiting += [one.replace("&amp;", "&") for one in found]
    return seen


@pytest.mark.req("P-25", case="bad")
@pytest.mark.parametrize("out", [(), ("certification",), ("certification", "top"), ("certification", "top", "details")])
def test_nothing_is_shown_before_it_is_released_to_the_public(visit, stage, clock, out):
    let_out(stage, clock, *out)
    for path, answer in pages(visit()).items():
        assert answer.status_code == 200, path
        assert "1.0000" not in answer.text, path
        assert "Alpha" not in answer.text, path
        assert "aqwv" not in answer.text.lower(), path


@pytest.mark.req("P-25", case="good")
def test_released_results_name_those_who_agreed_and_nobody_else(visit, stage, clock):
    stage.do(allow_naming, Actor(stage.season.ada), stage.season.alpha, agrees=True)
    let_out(stage, clock, *LEVELS)
    stage.compare_all()
    with stage.office.reading() as session:
        pseudonym = session.get(Team, stage.season.beta).pseudonym
    seen = pages(visit())
    assert len(seen) > 7
    for path, answer in seen.items():
        assert answer.status_code == 200, path
        words = answer.content.decode("latin-1")
        assert "Beta" not in words, path
        assert "beta" not in path
        assert "BETA" not in str(answer.headers)
    board = next(answer.text for path, answer in seen.items() if "/boards/" in path)
    assert "Alpha" in board
    assert pseudonym in board
    assert "1.0000" in board
    assert "<svg" in board
    systems = [answer.text for path, answer in seen.items() if "/systems/" in path]
    assert any("omitted: it would reveal the author" in text for text in systems)
    assert any("The system of Alpha" in text for text in systems)


@pytest.mark.few(1)
@pytest.mark.req("P-25")
@pytest.mark.parametrize("who", [None, "ada", "bea"])
def test_public_pages_show_the_same_to_everybody(visit, stage, clock, who):
    let_out(stage, clock, "certification", "top")
    assert "Nothing is public yet" in visit(who).get(f"{HOME}/results").text
    let_out(stage, clock, "public")
    page = visit(who).get(f"{HOME}/results").text
    assert "Evaluation week: CLIR" in page


@pytest.mark.req("P-29")
def test_the_pages_hold_what_the_static_site_holds(visit, stage, clock, tmp_path):
    let_out(stage, clock, *LEVELS)
    stage.compare_all()
    publish(stage.office, "small", tmp_path / "site")
    browser = visit()
    for path in sorted((tmp_path / "site" / "tables").iterdir()):
        assert browser.get(f"{HOME}/results/tables/{path.name}").content == path.read_bytes()
    for folder in ("boards", "systems"):
        for path in (tmp_path / "site" / folder).iterdir():
            assert browser.get(f"{HOME}/results/{folder}/{path.stem}").status_code == 200
    assert browser.get(f"{HOME}/plan/campaign.toml").content == (tmp_path / "site" / "campaign.toml").read_bytes()


def test_what_is_not_there_is_not_found(visit, stage):
    for path in ("boards/none", "systems/none", "tables/none.csv"):
        assert visit().get(f"{HOME}/results/{path}").status_code == 404
    assert visit().get(f"{HOME}/results/tables/none.exe").status_code in (404, 422)


def test_a_table_for_spreadsheets_has_every_system(visit, stage, clock):
    let_out(stage, clock, *LEVELS)
    with stage.office.reading() as session:
        names = session.scalars(select(Team.pseudonym)).all()
    table = next(answer.text for path, answer in pages(visit()).items() if path.endswith(".csv"))
    assert all(name in table for name in names)
