"""One campaign that takes every task, on a real server with a worker and a drop folder, and one team that submits."""

from __future__ import annotations

import hashlib
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
from sqlalchemy import func, select
from tests.cli.running import here
from tests.doors.examples import BY_TASK, DRAWS
from tests.server.accounts.conftest import CHEAP, PASSWORD
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, send_tus
from tests.server.live import live

from basanite.campaign.actions import references
from basanite.campaign.actions.plans import add_campaign
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.teams import NewTeam, create_team
from basanite.campaign.settings import Limits
from basanite.campaign.store.personal import Personal, mail_digest, seal
from basanite.campaign.store.tables import Account, Person, Submission
from basanite.server.accounts import authentication
from basanite.testing import SetClock, small_office

TEAM, MAIL = "FLAIR", "pi@example.org"
PATIENCE = 180.0
"""Seconds without any submission ending: a busy machine takes long for all of them."""
QUICK = Limits(poll_seconds=0.2, duty_seconds=2.0)
"""Often enough for what is waited for; looking for work more often than it comes would be most of the work."""
STAMP = "20180115_120000"
HEAD = """format = "basanite-campaign/1"
slug = "all"
title = "Every task"
zone = "UTC"
period = "BASE"
languages = ["1A"]
sealed = false
seed = 7
plan_version = "6.0.4"
open_uploads = 5
invalid_per_day = 500

[[packs]]
id = "DEV"
family = "dev"
released = "2017-11-20 00:00"
sealed = false

[[querysets]]
id = "QUERY1"
released = "2017-11-20 00:00"

[[domains]]
codes = ["BUS", "GOV", "LAW", "LIF", "SPO"]
released = "2017-11-20 00:00"
languages = ["1A"]
"""
WINDOW = """
[[windows]]
id = "{id}"
title = "{title}"
opens = "2018-01-01 00:00"
closes = "2018-03-31 24:00"
tasks = [{tasks}]
dataset = ["DEV"]
{querysets}
languages = ["1A"]
quota = {{ count = 1000, period = "week" }}
feedback = "full"
kind = "development"
settings = {{ draws = {draws} }}
"""


def calendar_name(task):
    return BY_TASK[task].calendar or task


def window_of(task):
    return "queries" if BY_TASK[task].queryset else "others"


def campaign_text():
    """The campaign: one window for tasks with queries, one for all others."""
    made = HEAD
    for name, querysets in (("queries", 'querysets = ["QUERY1"]'), ("others", "")):
        tasks = ", ".join(f'"{calendar_name(task)}"' for task in BY_TASK if window_of(task) == name)
        row = WINDOW.format(id=name, title=name.title(), tasks=tasks, querysets=querysets, draws=DRAWS)
        made += row if tasks else ""
    return made


@dataclass(frozen=True)
class Server:
    """The server at work, and a member of the one team there is."""

    office: Office
    address: str
    token: str
    drop: Path
    folder: Path

    def client(self):
        return httpx2.Client(base_url=self.address, timeout=120)

    def submissions(self):
        """Everything that has come in, by task and door: senders describe their system by the name of the door."""
        with self.client() as client:
            answer = client.get("/api/v1/campaigns/all/submissions?limit=200", headers=bearer(self.token))
        shown = answer.json()["submissions"]
        return {(one["task"].lower(), one["description"].get("text", "drop folder")): one for one in shown}

    def finished(self, count):
        """All submissions once so many have ended, or what is there when none has ended for long."""
        ended, since = 0, time.monotonic()
        while ended < count and time.monotonic() < since + PATIENCE:
            time.sleep(0.5)
            if (now := self._ended()) > ended:
                ended, since = now, time.monotonic()
        return self.submissions()

    def _ended(self):
        final = Submission.state.in_(("scored", "invalid", "failed"))
        with self.office.reading() as session:
            return session.scalar(select(func.count()).select_from(Submission).where(final))


@contextmanager
def serving(folder, run=None, **settings):
    """Start it, with a reference for every task."""
    given = {"accounts": CHEAP, "limits": QUICK, "drop": folder / "drop", "workers": 2} | settings
    office = replace(small_office(folder, SetClock(), **given), run=run)
    try:
        person = _people(office)
        (folder / "drop" / TEAM).mkdir(parents=True)
        with live(office, worker=True) as address:
            yield Server(office, address, with_token(office, person), folder / "drop" / TEAM, folder)
    finally:
        office.close()


def _people(office):
    """The team's PI with a password; references come from the command line."""
    with office.writing() as session:
        campaign = add_campaign(session, office, COMMAND, campaign_text()).id
        person = add_person(session, office, Newcomer(name="Pia", mail=MAIL)).id
        create_team(session, office, COMMAND, campaign, NewTeam(name=TEAM), pi=person)
        row = session.get_one(Person, person)
        row.sealed, row.mail_digest = seal(office.vault, person, Personal("Pia", MAIL)), mail_digest(office.vault, MAIL)
        digest = authentication.hash_password(office.settings.accounts, PASSWORD)
        session.merge(Account(person_id=person, password=digest, confirmed=office.clock(), zone="Europe/Paris"))
    for task, example in BY_TASK.items():
        _open_task(office, campaign, task, example)
    return person


def _open_task(office, campaign, task, example):
    judgements = example.path(task, example.judgements) if example.judgements else None
    metadata = tuple(example.path(task, name) for name in example.metadata)
    paths = references.Paths((example.path(task, example.reference),), None, metadata, judgements)
    material = references.take_in(office, paths)
    place = references.Place(calendar_name(task), "DEV", "1A", example.queryset)
    with office.writing() as session:
        references.add(session, office, Actor("command"), campaign, references.NewVersion(place, material))


def send_in_one_piece(server, task, path):
    content = path.read_bytes()
    said = words(task, path, "one piece") | {"sha256": hashlib.sha256(content).hexdigest()}
    with server.client() as client:
        place = "/api/v1/campaigns/all/submissions"
        answer = client.post(place, params=said, content=content, headers=bearer(server.token))
    assert answer.status_code == 201, answer.text


def send_in_pieces(server, task, path):
    with server.client() as client:
        answer = send_tus(client, server.token, path.read_bytes(), campaign="all", **words(task, path, "resumable"))
    assert answer.status_code == 204, answer.text


def send_by_command(server, task, path):
    (server.folder / "token").write_text(server.token)
    given = ["--server", server.address, "--campaign", "all", "--token-file", "token", "--no-wait"]
    for name, word in words(task, path, "command").items():
        given += [f"--{name}", word] if name != "filename" else []
    receipt = server.folder / f"{task}.receipt.json"
    ended = here("submit", path, *given, "--receipt", receipt, cwd=server.folder)
    assert (ended.code, receipt.is_file()) == (0, True), ended.stderr


def send_by_drop_folder(server, task, path):
    """Put a file there as it should be done: under another name first."""
    folder = server.drop if BY_TASK[task].calendar else server.drop / window_of(task) / task
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / dropped_name(task, path)
    part = target.with_name(f"{target.name}.part")
    shutil.copyfile(path, part)
    part.rename(target)


def words(task, path, door):
    """What a sender says of a file."""
    said = {"task": calendar_name(task), "label": path.stem, "description": door}
    return said | {"filename": path.name}


def dropped_name(task, path):
    """Archives of detection tasks have a full name in the drop folder, all other files their own."""
    example = BY_TASK[task]
    if not example.calendar:
        return path.name
    what = f"{example.calendar}-contrastive-unconstrained-{example.archive_part}{path.stem}"
    return f"{TEAM}_{what}_BASE-1A-DEV_{STAMP}.tgz"


def send_by_page(tab, server, task, path):
    """Fill in the form of the page and send it, with the page's own scripts."""
    tab.goto(f"{server.address}/campaigns/all/submit")
    option = tab.locator(f"select[name=slot] option[value^='{window_of(task)}|{calendar_name(task)}|']").first
    tab.locator("select[name=slot]").select_option(option.get_attribute("value"))
    tab.locator("input[name=file]").set_input_files(path)
    tab.locator("[name=description-text]").fill("page")
    tab.locator("form#submit button:not([type=button])").first.click()
    tab.wait_for_url("**/submissions/*")
    assert path.name in tab.inner_text("main") or BY_TASK[task].calendar


def signed_in(chrome, server):
    tab = chrome.new_context().new_page()
    tab.set_default_timeout(120_000)
    tab.goto(f"{server.address}/sign-in")
    tab.locator("main [name=mail]").fill(MAIL)
    tab.locator("main [name=password]").fill(PASSWORD)
    tab.locator("main form button").first.click()
    tab.wait_for_url(f"{server.address}/")
    return tab
