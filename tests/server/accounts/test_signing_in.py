"""Signing in: the right password and nothing else, a lock after failures, and answers that tell nobody anything."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import CHEAP, PASSWORD, Browser, add_user

from basanite.campaign.office import Actor
from basanite.campaign.people.privacy import note_address
from basanite.campaign.settings import Accounts
from basanite.campaign.store.tables import Account, Event, Session
from basanite.server.accounts import authentication, registration, sessions
from basanite.server.accounts.authentication import ANYWHERE_TIMES
from basanite.server.app import make_app
from basanite.testing import small_office


@pytest.mark.req("P-11", case="good")
def test_the_right_password_lets_in_and_the_page_says_who_is_signed_in(browser, ada):
    answer = browser.sign_in("ada@example.org")
    assert answer.status_code == 200
    assert "Sign out" in answer.text
    assert "<bdi>Ada</bdi>" in answer.text


@pytest.mark.req("P-11", case="bad")
@pytest.mark.parametrize(
    ("mail", "password"),
    [
        ("ada@example.org", "correct horse batterY"),
        ("nobody@example.org", PASSWORD),
        ("", ""),
        ("ada@example.org", "x" * 5000),
    ],
    ids=["wrong password", "nobody", "empty", "endless"],
)
def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(browser, ada, mail, password):
    answer = browser.sign_in(mail, password)
    assert answer.status_code == 401
    assert "the email address or password is wrong" in answer.text
    assert "Sign out" not in answer.text


def test_the_database_holds_an_argon2_hash_at_the_cost_of_the_settings(office, ada):
    with office.reading() as session:
        kept = session.get(Account, ada).password
    assert kept.startswith("$argon2id$")
    assert "m=64,t=1,p=1" in kept
    assert PASSWORD not in kept


def test_a_hash_of_another_cost_is_renewed_at_sign_in(tmp_path, clock):
    office = small_office(tmp_path, clock, accounts=CHEAP)
    person = add_user(office)
    dearer = Accounts(**CHEAP.model_dump() | {"time_cost": 2})
    office.settings.accounts = dearer
    with closing(office), office.writing() as session:
        assert authentication.try_password(session, office, "ada@example.org", PASSWORD).outcome == "in"
        assert "t=2" in session.get(Account, person).password


@pytest.mark.req("P-11")
def test_an_account_is_locked_after_failures_says_until_when_and_opens_by_itself(browser, ada, clock):
    for _ in range(CHEAP.failures - 1):
        assert browser.sign_in("ada@example.org", "wrong password").status_code == 401
    locked = browser.sign_in("ada@example.org", "wrong password")
    assert locked.status_code == 429
    assert "locked until 12:15:00 UTC" in locked.text
    assert browser.sign_in("ada@example.org").status_code == 429, "the right password opens no lock"
    clock.forward(minutes=15, seconds=1)
    assert browser.sign_in("ada@example.org").status_code == 200


@pytest.mark.req("P-11")
def test_addresses_with_and_without_an_account_are_locked_alike(browser, ada):
    """A lock tells nobody whether there is such an account."""
    answers = {}
    for mail in ("ada@example.org", "nobody@example.org"):
        tries = [browser.sign_in(mail, "wrong password") for _ in range(CHEAP.failures + 1)]
        answers[mail] = [(one.status_code, "locked until 12:15:00 UTC" in one.text) for one in tries]
    assert answers["ada@example.org"] == answers["nobody@example.org"]
    assert answers["ada@example.org"][-1] == (429, True)


def guess(office, times, address, password="wrong password"):
    """So many tries as Ada from an address; gives the last outcome."""
    with office.writing() as session:
        tries = [
            authentication.try_password(session, office, "ada@example.org", password, address) for _ in range(times)
        ]
    return tries[-1].outcome


def test_who_guesses_is_locked_out_and_not_the_owner_elsewhere(office, ada):
    assert guess(office, CHEAP.failures, "192.0.2.1") == "locked"
    assert guess(office, 1, "192.0.2.1", PASSWORD) == "locked"
    assert guess(office, 1, "198.51.100.7", PASSWORD) == "in"


def test_guesses_from_many_addresses_close_the_account_to_strangers_but_not_where_its_owner_was_before(office, ada):
    with office.writing() as session:
        note_address(session, office, ada, "198.51.100.7")
    for number in range(ANYWHERE_TIMES * CHEAP.failures):
        guess(office, 1, f"192.0.2.{number}")
    assert guess(office, 1, "203.0.113.9", PASSWORD) == "locked"
    assert guess(office, 1, "198.51.100.7", PASSWORD) == "in"


def test_a_new_password_ends_every_lock_of_its_owner(office, ada):
    guess(office, CHEAP.failures, "192.0.2.1")
    with office.writing() as session:
        registration.set_password(session, office, Actor(ada), session.get(Account, ada), "another good password")
    assert guess(office, 1, "192.0.2.1", "another good password") == "in"


def test_a_success_forgets_earlier_failures(browser, another, ada, office):
    for _ in range(CHEAP.failures - 1):
        browser.sign_in("ada@example.org", "wrong password")
    another.sign_in("ada@example.org")
    assert browser.sign_in("ada@example.org", "wrong password").status_code == 401


@pytest.mark.req("X-11")
def test_the_id_of_a_session_is_renewed_at_sign_in_and_the_old_one_is_worth_nothing(browser, another, ada, office):
    name = sessions.cookie_name(office)
    browser.sign_in("ada@example.org")
    first = browser.client.cookies[name]
    browser.client.post("/sign-out", data={"csrf": re.search(r'csrf" value="([^"]+)', browser.get("/account").text)[1]})
    browser.sign_in("ada@example.org")
    assert browser.client.cookies[name] != first
    another.client.cookies.set(name, first)
    assert another.get("/account").status_code == 401


@pytest.mark.req("X-11")
def test_a_change_of_role_renews_the_id_of_the_session(browser, ada, office, small):
    from basanite.campaign.office import COMMAND
    from basanite.campaign.people.roles import RoleGrant, grant

    name = sessions.cookie_name(office)
    browser.sign_in("ada@example.org")
    browser.get("/account")
    before = browser.client.cookies[name]
    with office.writing() as session:
        grant(session, office, COMMAND, RoleGrant(person_id=ada, role="judge", campaign_id=small.campaign_id))
    assert browser.get("/account").status_code == 200
    assert browser.client.cookies[name] != before
    assert browser.get("/account").status_code == 200


@pytest.mark.req("P-11")
def test_the_cookie_is_signed_for_this_site_alone_and_hidden_from_scripts(browser, another, ada, office):
    answer = browser.sign_in("ada@example.org", follow=False)
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith("basanite="))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    value = browser.client.cookies["basanite"]
    changed = "A" if value[-2] != "A" else "B"  # the last letter holds bits that nothing reads
    for forged in (value[:-2] + changed + value[-1], "x." + value.partition(".")[2], "nonsense"):
        another.client.cookies.set("basanite", forged)
        assert another.get("/account").status_code == 401
    with office.reading() as session:
        assert all(value.partition(".")[0] not in row.digest for row in session.query(Session))


def test_over_https_the_cookie_is_secure_and_bound_to_the_host(tmp_path, clock):
    with closing(small_office(tmp_path, clock, accounts=CHEAP, address="https://eval.example.org")) as office:
        assert sessions.cookie_name(office) == "__Host-basanite"
        assert office.settings.https


@pytest.mark.req("X-11")
def test_over_https_the_cookie_of_strangers_forms_is_bound_to_the_host_too(tmp_path, clock):
    office = small_office(tmp_path, clock, accounts=CHEAP, address="https://eval.example.org")
    add_user(office)
    with TestClient(make_app(office), base_url="https://eval.example.org") as client:
        cookie = client.get("/sign-in", headers={"Accept": "text/html"}).headers["set-cookie"]
        assert cookie.startswith("__Host-basanite-forms=")
        assert "Secure" in cookie
        assert "Path=/" in cookie
        assert "Domain" not in cookie
        assert Browser(client).sign_in("ada@example.org", follow=False).status_code == 303
    office.close()


@pytest.mark.req("P-11")
def test_a_session_ends_after_idling_and_at_its_last_hour(browser, ada, clock):
    browser.sign_in("ada@example.org")
    clock.forward(minutes=119)
    assert browser.get("/account").status_code == 200
    clock.forward(minutes=119)
    assert browser.get("/account").status_code == 200, "a visit keeps a session alive"
    clock.forward(minutes=121)
    assert browser.get("/account").status_code == 401
    browser.sign_in("ada@example.org")
    for _ in range(7):
        clock.forward(minutes=100)
        browser.get("/account")
    clock.forward(minutes=30)
    assert browser.get("/account").status_code == 401, "twelve hours are over"


@pytest.mark.req("P-11")
def test_people_list_their_sessions_and_sign_other_browsers_out(browser, another, ada):
    browser.sign_in("ada@example.org")
    another.sign_in("ada@example.org")
    page = another.get("/account").text
    assert page.count("Sign out</button>") == 2, "the one in the head, and the other browser's"
    assert another.send("/account", "/account/sessions/end").status_code == 200
    assert browser.get("/account").status_code == 401
    assert another.get("/account").status_code == 200


def test_nobody_ends_the_session_of_somebody_else(browser, another, ada, office):
    bea = add_user(office, "Bea", "bea@example.org")
    browser.sign_in("ada@example.org")
    another.sign_in("bea@example.org")
    with office.reading() as session:
        victim = next(row.digest for row in session.query(Session) if row.person_id == bea)
    browser.send("/account", "/account/sessions/end", session=victim)
    assert another.get("/account").status_code == 200


@pytest.mark.req("X-11")
@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "/no/such/page",
        "/api/v1/tokens",
    ],
)
def test_after_signing_in_one_goes_to_pages_of_ours_only(browser, ada, wanted):
    answer = browser.sign_in("ada@example.org", then=wanted, follow=False)
    assert answer.headers["location"] == "/"


def test_after_signing_in_one_goes_where_one_wanted_to(browser, ada):
    assert (
        browser.sign_in("ada@example.org", then="/account/tokens", follow=False).headers["location"]
        == "/account/tokens"
    )


@pytest.mark.req("P-11")
def test_who_tries_too_often_has_to_wait(tmp_path, clock):
    from starlette.testclient import TestClient
    from tests.server.accounts.conftest import Browser

    from basanite.server.app import make_app

    office = small_office(tmp_path, clock, accounts=Accounts(**CHEAP.model_dump() | {"tries": "3/minute"}))
    with TestClient(make_app(office)) as client:
        browser = Browser(client)
        codes = [browser.sign_in("nobody@example.org", "wrong password").status_code for _ in range(4)]
        assert codes == [401, 401, 401, 429]
        assert "retry-after" in browser.sign_in("nobody@example.org", "wrong password").headers
    office.close()


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    ("path", "page"),
    [("/sign-in", "/sign-in"), ("/sign-up", "/sign-up"), ("/forgotten", "/forgotten"), ("/preferences/theme", "/")],
)
def test_a_form_without_our_token_is_refused_also_before_signing_in(browser, ada, path, page):
    browser.get(page)
    fields = {"mail": "ada@example.org", "password": PASSWORD, "name": "x", "theme": "dark"}
    for token in ({}, {"csrf": ""}, {"csrf": "made.up"}):
        answer = browser.client.post(path, data=fields | token, headers={"Accept": "text/html"})
        assert answer.status_code == 403, token
    other = browser.client.__class__(browser.client.app)
    stolen = re.search(r'csrf" value="([^"]+)', other.get(page, headers={"Accept": "text/html"}).text)[1]
    answer = browser.client.post(path, data=fields | {"csrf": stolen}, headers={"Accept": "text/html"})
    assert answer.status_code == 403, "the token of another browser"


@pytest.mark.req("P-21")
def test_no_event_of_signing_in_holds_a_name_an_address_or_a_password(browser, ada, office):
    browser.sign_in("ada@example.org", "wrong password")
    browser.sign_in("ada@example.org")
    with office.reading() as session:
        text = str([(row.kind, row.actor, row.subject, row.data) for row in session.query(Event)])
    assert "session.started" in text
    assert not any(word in text for word in ("Ada", "example.org", PASSWORD))


def test_a_closed_account_is_signed_out_and_stays_out(browser, ada, office):
    browser.sign_in("ada@example.org")
    with office.writing() as session:
        session.get(Account, ada).closed = office.clock()
    assert browser.get("/account").status_code == 401
    assert browser.sign_in("ada@example.org").status_code == 401


@pytest.mark.parametrize("password", ["", "short", "x" * 20, "1234567890123", "abababababab", "y" * 1025])
def test_weak_passwords_are_named(password):
    assert authentication.password_weaknesses(password)
