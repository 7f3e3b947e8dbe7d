"""Operators' pages: what the server is and does, for administrators alone, and never a secret (P-44)."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from starlette.testclient import TestClient
from tests.campaign.staging import staged
from tests.cli.running import here
from tests.server.accounts.conftest import CHEAP, Browser
from tests.server.conftest import fresh_office, with_token
from tests.server.pages.conftest import give_passwords

from basanite.campaign.settings import Accounts, Mail, Provider
from basanite.campaign.store.tables import Grant
from basanite.server.accounts import sessions
from basanite.server.app import make_app
from basanite.server.pages.operators import PARTS

pytestmark = pytest.mark.req("P-44")
SECRETS = ("hunter2-mail", "hunter2-provider")
ACCOUNTS = Accounts(
    **CHEAP.model_dump()
    | {"providers": (Provider(id="p", title="P", issuer="https://p.example", client="c", secret=SECRETS[1]),)}
)


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock, accounts=ACCOUNTS, mail=Mail(host="", password=SECRETS[0]))
    yield made
    made.close()


@pytest.fixture
def stage(office, clock, pack):
    """The small season, whose organizer Eva is an administrator too."""
    made = staged(office, clock, pack, then=give_passwords)
    with office.writing() as session:
        who = {"campaign_id": None, "person_id": made.season.eva, "role": "administrator"}
        session.add(Grant(at=office.clock(), by="command", **who))
    return made


@pytest.fixture
def visit(office, stage):
    """A browser of somebody, by default with a second factor."""

    def opened(who="eva", strong=True):
        with office.writing() as session:
            cookie = sessions.start(session, office, getattr(stage.season, who), strong=strong)
        client = TestClient(make_app(office))
        client.cookies.set(sessions.cookie_name(office), cookie)
        return Browser(client)

    return opened


def cells(page):
    """The rows of the page's table, as texts."""
    rows = re.findall(r"<tr><th scope=row.*?</tr>", page, re.S)
    split = (re.split(r"</t[hd]>", row)[:-1] for row in rows)
    return [[unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in row] for row in split]


def test_every_part_opens_for_administrators_and_shows_no_secret(visit):
    eva = visit()
    assert 'href="/operate"' in eva.get("/").text
    for part in ("", *(f"/{name}" for name in PARTS)):
        answer = eva.get(f"/operate{part}")
        assert answer.status_code == 200, part
        assert not any(secret in answer.text for secret in SECRETS), part
    assert eva.get("/operate/none").status_code == 422


@pytest.mark.req("P-5")
def test_nobody_else_opens_them(visit):
    for browser in (visit("otto"), visit("ada"), visit("eva", strong=False)):
        assert {browser.get(f"/operate/{part}").status_code for part in PARTS} == {403}
    assert 'href="/operate"' not in visit("otto").get("/").text


def test_settings_in_effect_say_of_a_secret_only_whether_it_is_set(visit):
    shown = dict(row[:2] for row in cells(visit().get("/operate/settings").text))
    assert (shown["mail.password"], shown["accounts.providers[0].secret"]) == ("(set)", "(set)")
    assert (shown["database"], shown["accounts.failures"], shown["demo"]) == ("(not set)", "5", "no")
    assert shown["accounts.providers[0].issuer"] == "https://p.example"


def test_jobs_workers_mail_and_storage_are_counted(visit, stage):
    stage.submit("alpha")
    waiting = stage.office.files.take(stage.pack.silent)
    eva = visit()
    overview = dict(row[:2] for row in cells(eva.get("/operate").text))
    assert (overview["campaigns"], overview["teams"], overview["submissions scored"]) == ("1", "2", "1")
    assert overview["schema"] == overview["schema of this program"]
    storage = {row[0]: row[1] for row in cells(eva.get("/operate/storage").text)}
    assert storage["submissions"] == "1"
    assert "Nothing is being worked on" in eva.get("/operate/jobs").text
    from basanite.campaign.intake.acceptance import Arrival, accept
    from basanite.campaign.model.plan import Declared
    from basanite.campaign.office import Actor

    said = Declared(task="CLIR", label="two", type="contrastive", language="1A")
    with stage.office.writing() as session:
        accept(session, stage.office, Actor(stage.season.ada), Arrival(stage.season.alpha, said, waiting))
    (job,) = cells(eva.get("/operate/jobs").text)
    assert job[:5] == ["small", "Alpha", "2", "CLIR", "received"]
    assert ["mail", "result_there", "waiting"] in [row[:3] for row in cells(eva.get("/operate/mail").text)]


def test_people_are_found_by_a_part_of_name_or_address(visit):
    eva = visit()
    assert {row[0] for row in cells(eva.get("/operate/users").text)} >= {"Ada", "Bea", "Eva", "Otto"}
    (found,) = cells(eva.get("/operate/users?find=EVA@").text)
    assert found[:3] == ["Eva", "eva@example.org", "administrator"]
    assert "There is nobody like that." in eva.get("/operate/users?find=%25").text, "no pattern, but a text"


def test_the_log_of_the_whole_server_is_searched(visit, stage):
    stage.submit("alpha")
    eva = visit()
    kinds = {row[3] for row in cells(eva.get("/operate/log?kind=submission").text)}
    assert kinds
    assert all(kind.startswith("submission") for kind in kinds)
    about = cells(eva.get(f"/operate/log?find={stage.season.beta}").text)
    assert about
    assert all(stage.season.beta in " ".join(row) for row in about)
    assert "The log has no such entry." in eva.get("/operate/log?find=%25_%27--").text
    numbers = [int(row[0]) for row in cells(eva.get("/operate/log").text)]
    assert numbers == sorted(numbers, reverse=True)
    older = [int(row[0]) for row in cells(eva.get(f"/operate/log?before={numbers[-1] + 1}").text)]
    assert older == [numbers[-1]]


def test_commands_and_programs_tell_the_same(visit, stage, office):
    data = str(office.settings.data)
    key = office.settings.data.parent / "backup.key"
    key.write_bytes(b"k" * 32)
    out = office.settings.data.parent / "season.backup"
    assert json.loads(here("admin", "server", "backups", "--data", data, "--json").stdout) == {"backups": []}
    made = here("backup", out, "--data", data, "--key", key)
    assert made.code == 0, made.stderr
    (backup,) = json.loads(here("admin", "server", "backups", "--data", data, "--json").stdout)["backups"]
    assert (backup["file"], backup["bytes"]) == ("season.backup", out.stat().st_size)
    assert "season.backup" in visit().get("/operate/backups").text
    headers = {"Authorization": f"Bearer {with_token(office, stage.season.eva)}"}
    others = {"Authorization": f"Bearer {with_token(office, stage.season.otto)}"}
    with TestClient(make_app(office)) as client:
        for part in PARTS:
            if part == "health":
                continue
            answer = client.get(f"/api/v1/actions/server-{part}", headers=headers)
            assert answer.status_code == 200, part
            assert not any(secret in answer.text for secret in SECRETS)
            assert client.get(f"/api/v1/actions/server-{part}", headers=others).status_code == 403
    printed = here("admin", "server", "settings", "--data", data).stdout
    assert not any(secret in printed for secret in SECRETS)
