"""Making an account and getting back into one, by links that work once and not for long."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from tests.server.accounts.conftest import PASSWORD, add_user, link_in_mail
from tests.server.conftest import with_token

from basanite.campaign.store.tables import Account, Message, Person
from basanite.server.app import make_app

NEW = "a quite different one"
FORM = {"name": "Grace", "mail": "grace@example.org", "password": PASSWORD}


@pytest.mark.req("P-11", case="good")
def test_an_account_is_made_by_confirming_the_mail_address(browser, office):
    assert "Check your email" in browser.send("/sign-up", **FORM).text
    assert browser.sign_in("grace@example.org").status_code == 401, "not before the address is confirmed"
    page = browser.get(link_in_mail(office, "confirm"))
    assert "Confirm your email address" in page.text
    assert browser.sign_in("grace@example.org").status_code == 401, "looking at a link does not use it"
    done = browser.send(str(page.url.path))
    assert "confirmed" in done.text
    assert browser.sign_in("grace@example.org").status_code == 200


@pytest.mark.req("P-47")
def test_who_signs_up_from_a_campaign_lands_in_it(browser, office, small):
    home = "/campaigns/small"
    offered = re.search(r'href="(/sign-up[^"]*)"', browser.get(home).text)[1]
    assert f'name="then" value="{home}"' in browser.get(offered).text
    browser.send("/sign-up", **FORM, then=home)
    confirmed = browser.send(str(browser.get(link_in_mail(office, "confirm")).url.path))
    assert f'name="then" value="{home}"' in confirmed.text
    assert browser.sign_in("grace@example.org", then=home).url.path == home


@pytest.mark.req("X-11")
def test_nobody_is_led_to_another_site_after_signing_up(browser, office):
    browser.send("/sign-up", **FORM, then="https://elsewhere.example/campaigns/small")
    confirmed = browser.send(str(browser.get(link_in_mail(office, "confirm")).url.path))
    assert (confirmed.url.path, confirmed.url.query) == ("/sign-in", b"")


@pytest.mark.req("X-11")
def test_a_link_works_once(browser, office):
    browser.send("/sign-up", **FORM)
    path = str(browser.get(link_in_mail(office, "confirm")).url.path)
    browser.send(path)
    assert browser.get(path).status_code == 404


@pytest.mark.req("X-11")
def test_a_link_works_for_a_day_or_an_hour_and_no_longer(browser, office, clock, ada):
    browser.send("/sign-up", **FORM)
    confirm = link_in_mail(office, "confirm")
    browser.send("/forgotten", mail="ada@example.org")
    reset = link_in_mail(office, "reset")
    clock.forward(minutes=61)
    assert browser.get(reset.replace("/links/", "/reset/")).status_code == 404
    late = browser.get(reset)
    assert (late.url.path, "no longer works" in late.text) == ("/forgotten", True), "where a new one is asked for"
    assert browser.get(confirm).status_code == 200
    clock.forward(days=1)
    assert browser.get(confirm).status_code == 404


@pytest.mark.req("P-11")
def test_signing_up_with_a_known_address_says_nothing_new_and_tells_its_owner(browser, office, ada):
    new = browser.send("/sign-up", **FORM)
    known = browser.send("/sign-up", **FORM | {"mail": "ada@example.org"})
    assert known.status_code == new.status_code == 200
    assert known.text.replace("ada@", "grace@") == new.text
    with office.reading() as session:
        assert session.query(Person).count() == 2
        sent = [row.template for row in session.query(Message).filter(Message.person_id == ada)]
        assert session.get(Account, ada).password is not None
    assert sent == ["account_exists"]
    assert browser.sign_in("ada@example.org").status_code == 200, "the password is still Ada's"


@pytest.mark.req("P-11", case="bad")
@pytest.mark.parametrize(
    "wrong",
    [
        {"password": "short"},
        {"mail": "no address"},
        {"mail": "a@b.org\nBcc: c@d.org"},
        {"name": ""},
        {"name": "x" * 300},
    ],
    ids=["short password", "no address", "line break", "no name", "endless name"],
)
def test_what_cannot_be_an_account_is_refused_with_a_cure(browser, office, wrong):
    answer = browser.send("/sign-up", **FORM | wrong)
    assert answer.status_code == 422
    assert "needs your attention" in answer.text
    with office.reading() as session:
        assert session.query(Person).count() == 0


@pytest.mark.req("P-11", case="good")
def test_a_forgotten_password_is_replaced_and_all_sessions_end(browser, another, office, ada):
    another.sign_in("ada@example.org")
    browser.send("/forgotten", mail="ada@example.org")
    page = browser.get(link_in_mail(office, "reset"))
    assert browser.send(str(page.url.path), password="weak").status_code == 422
    assert browser.send(str(page.url.path), password=NEW).status_code == 200
    assert another.get("/account").status_code == 401
    assert browser.sign_in("ada@example.org").status_code == 401
    assert browser.sign_in("ada@example.org", NEW).status_code == 200
    assert browser.get(str(page.url.path)).status_code == 404, "none left"


@pytest.mark.req("X-32")
@pytest.mark.parametrize(("chosen", "status"), [({"tokens": "yes"}, 401), ({}, 200)], ids=["ended", "kept"])
def test_who_sets_a_new_password_chooses_whether_api_tokens_end(browser, office, ada, chosen, status):
    headers = {"Authorization": f"Bearer {with_token(office, ada)}"}
    calls = TestClient(make_app(office))
    assert calls.get("/api/v1/campaigns", headers=headers).status_code == 200
    browser.send("/forgotten", mail="ada@example.org")
    page = browser.get(link_in_mail(office, "reset"))
    assert 'name="tokens" value="yes" checked' in page.text, "ended unless somebody says otherwise"
    answer = browser.send(str(page.url.path), password=NEW, **chosen)
    assert ("sessions and API tokens were ended" in answer.text) == bool(chosen)
    assert calls.get("/api/v1/campaigns", headers=headers).status_code == status


@pytest.mark.req("P-11")
def test_asking_for_a_reset_tells_nobody_whether_there_is_an_account(browser, office, ada):
    known = browser.send("/forgotten", mail="ada@example.org")
    unknown = browser.send("/forgotten", mail="nobody@example.org")
    assert known.text == unknown.text
    with office.reading() as session:
        assert [row.person_id for row in session.query(Message)] == [ada]


@pytest.mark.req("X-11")
def test_an_older_reset_link_stops_working_when_a_newer_one_is_sent(browser, office, clock, ada):
    browser.send("/forgotten", mail="ada@example.org")
    first = link_in_mail(office, "reset")
    clock.forward(minutes=1)
    browser.send("/forgotten", mail="ada@example.org")
    older = browser.get(first)
    assert (older.status_code, "request a new link on the sign-in page" in older.text) == (404, True)
    assert browser.get(link_in_mail(office, "reset")).status_code == 200


@pytest.mark.req("X-11")
def test_a_reset_link_works_as_long_as_the_settings_say(browser, office, clock, ada):
    office.settings.accounts.link_minutes = 5
    try:
        browser.send("/forgotten", mail="ada@example.org")
        link = link_in_mail(office, "reset")
        clock.forward(minutes=4)
        assert browser.get(link).url.path.startswith("/reset/")
        clock.forward(minutes=2)
        assert browser.get(link).url.path == "/forgotten"
    finally:
        office.settings.accounts.link_minutes = 60


@pytest.mark.req("X-11")
def test_a_link_for_one_purpose_serves_no_other(browser, office, ada):
    browser.send("/forgotten", mail="ada@example.org")
    secret = link_in_mail(office, "reset").rpartition("/")[2]
    assert browser.get(f"/confirm/{secret}").status_code == 404
    browser.sign_in("ada@example.org")
    assert browser.get(f"/invitations/{secret}").status_code == 404


def test_where_sign_up_is_closed_nobody_signs_up(browser, office):
    office.settings.accounts.sign_up = False
    try:
        assert "by invitation" in browser.get("/sign-up").text
        browser.get("/sign-in")
        assert browser.send("/sign-in", "/sign-up", **FORM).status_code == 403
    finally:
        office.settings.accounts.sign_up = True


def test_a_password_is_changed_with_the_old_one_only(browser, ada):
    browser.sign_in("ada@example.org")
    assert browser.send("/account", "/account/password", old="wrong one here", password=NEW).status_code == 401
    assert browser.send("/account", "/account/password", old=PASSWORD, password=NEW).status_code == 200
    assert browser.sign_in("ada@example.org", NEW).status_code == 200


def test_name_and_zone_are_changed_and_an_unknown_zone_is_utc(browser, office, ada):
    browser.sign_in("ada@example.org")
    page = browser.send("/account", "/account/profile", name="Ada 李", zone="Asia/Tokyo").text
    assert "Ada 李" in page
    assert "Asia/Tokyo" in page
    browser.send("/account", "/account/profile", name="Ada", zone="Mars/Olympus")
    with office.reading() as session:
        assert session.get(Account, ada).zone == "UTC"


def test_the_same_address_in_other_letters_is_the_same_account(browser, office, ada):
    add_user(office, "Bea", "bea@example.org")
    assert browser.sign_in(" ADA@Example.org ").status_code == 200
