"""People of the reading season who sign in, and a Chromium that looks over their shoulder."""

from __future__ import annotations

from contextlib import contextmanager

from tests.campaign.work.reading.season import HELPERS, reading_season
from tests.server.accounts.conftest import CHEAP, PASSWORD
from tests.server.live import live

from basanite.campaign.store.personal import Personal, mail_digest, seal
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import authentication, sessions
from basanite.testing import SetClock

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def reading_site(folder):
    """A server with a reading season whose helpers and organisers can sign in; gives address and season."""
    made = reading_season(folder, SetClock(), accounts=CHEAP)
    digest = authentication.hash_password(made.office.settings.accounts, PASSWORD)
    with made.office.writing() as session:
        for name in (*HELPERS, "ada", "eva", "otto"):
            who = made.person(name)
            person = session.get_one(Person, who)
            person.sealed = seal(made.office.vault, who, Personal(name.title(), f"{name}@example.org"))
            person.mail_digest = mail_digest(made.office.vault, f"{name}@example.org")
            session.merge(Account(person_id=who, password=digest, confirmed=made.office.clock(), zone="UTC"))
    with live(made.office) as address:
        yield address, made
    made.office.close()


def tab_of(chrome, address, made, who, *, size=DESK, scheme="light"):
    """A tab in which somebody is signed in; organisers with their second factor."""
    with made.office.writing() as session:
        cookie = sessions.start(session, made.office, made.person(who), strong=True)
    context = chrome.new_context(viewport=size, color_scheme=scheme)
    name = sessions.cookie_name(made.office)
    context.add_cookies([{"name": name, "value": cookie, "url": address}])
    tab = context.new_page()
    tab.complaints = []
    tab.on("console", lambda said: tab.complaints.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    return tab
