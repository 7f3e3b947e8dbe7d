"""The second factor: set up with a proof, asked for at sign-in, each code once, and needed by the evaluation team."""

from __future__ import annotations

import html
import re

import pyotp
import pytest
from tests.server.accounts.conftest import CHEAP, PASSWORD

from basanite.campaign.office import COMMAND
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables import Account


def switched_on(browser, clock):
    """Switch it on as a person does; gives the secret and the recovery codes."""
    page = browser.get("/account/second-factor").text
    secret = re.search(r'class="secret">([A-Z2-7]+)<', page)[1]
    offered = html.unescape(re.search(r'name="offered" value="([^"]+)"', page)[1])
    token = re.search(r'csrf" value="([^"]+)"', page)[1]
    data = {"csrf": token, "offered": offered, "code": pyotp.TOTP(secret).at(clock())}
    data |= {"password": PASSWORD}
    answer = browser.client.post("/account/second-factor", data=data, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    codes = re.findall(r"<li>(\w{4}-\w{4}-\w{4})</li>", answer.text)
    return secret, codes


def give(browser, code, **more):
    return browser.send("/sign-in/code", code=code, **more)


@pytest.fixture
def enrolled(browser, ada, clock):
    browser.sign_in("ada@example.org")
    secret, codes = switched_on(browser, clock)
    clock.forward(minutes=1)
    return pyotp.TOTP(secret), codes


@pytest.mark.req("X-11", case="good")
def test_with_a_second_factor_password_and_code_let_in_and_the_password_alone_does_not(another, enrolled, clock):
    totp, _ = enrolled
    assert "second factor" in another.sign_in("ada@example.org").text
    assert another.get("/account").status_code == 401
    assert give(another, totp.at(clock())).status_code == 200
    assert "second factor used" in another.get("/account").text


@pytest.mark.req("X-11", case="bad")
def test_a_code_works_once(another, browser, enrolled, clock):
    totp, _ = enrolled
    code = totp.at(clock())
    another.sign_in("ada@example.org")
    assert give(another, code).status_code == 200
    third = type(browser)(browser.client.__class__(browser.client.app))
    third.sign_in("ada@example.org")
    assert give(third, code).status_code == 401, "seen over a shoulder"
    clock.forward(seconds=30)
    assert give(third, totp.at(clock())).status_code == 200


@pytest.mark.few(2)
@pytest.mark.req("X-11", case="bad")
@pytest.mark.parametrize("code", ["", "000000", "12345", "1234567", "abcdef", "٠٠٠٠٠٠", "0000-0000-0000"])
def test_a_wrong_code_does_not_let_in(another, enrolled, code):
    another.sign_in("ada@example.org")
    assert give(another, code).status_code == 401
    assert another.get("/account").status_code == 401


def test_codes_of_another_time_do_not_work(another, enrolled, clock):
    totp, _ = enrolled
    another.sign_in("ada@example.org")
    for minutes in (-5, 5, 60):
        assert give(another, totp.at(clock().timestamp() + 60 * minutes)).status_code == 401


@pytest.mark.req("X-11")
def test_wrong_codes_lock_the_account_like_wrong_passwords(another, enrolled, clock):
    totp, _ = enrolled
    another.sign_in("ada@example.org")
    codes = [give(another, "000000").status_code for _ in range(CHEAP.failures)]
    assert codes == [401] * (CHEAP.failures - 1) + [429]
    assert give(another, totp.at(clock())).status_code == 429


@pytest.mark.req("X-11")
def test_each_recovery_code_lets_in_once(another, browser, enrolled):
    _, codes = enrolled
    assert len(set(codes)) == 8
    another.sign_in("ada@example.org")
    assert give(another, codes[0].upper()).status_code == 200
    assert "7 recovery codes are left" in another.get("/account/second-factor").text
    third = type(browser)(browser.client.__class__(browser.client.app))
    third.sign_in("ada@example.org")
    assert give(third, codes[0]).status_code == 401


def test_without_a_password_nobody_gets_to_the_code(browser, ada):
    assert browser.get("/sign-in/code", follow_redirects=False).headers["location"] == "/sign-in"
    browser.client.cookies.set("basanite-half-way", "made.up.value")
    assert browser.get("/sign-in/code", follow_redirects=False).headers["location"] == "/sign-in"


def test_it_is_not_switched_on_without_a_right_code(browser, ada, office):
    browser.sign_in("ada@example.org")
    page = browser.get("/account/second-factor").text
    offered = html.unescape(re.search(r'name="offered" value="([^"]+)"', page)[1])
    for given in (offered, "forged"):
        answer = browser.send("/account/second-factor", offered=given, code="000000", password=PASSWORD)
        assert answer.status_code == 422
    with office.reading() as session:
        assert session.get(Account, ada).second_factor is None


@pytest.mark.req("P-49")
def test_it_is_not_switched_on_without_the_password(browser, ada, office, clock):
    browser.sign_in("ada@example.org")
    page = browser.get("/account/second-factor").text
    assert 'name="password"' in page
    offered = html.unescape(re.search(r'name="offered" value="([^"]+)"', page)[1])
    code = pyotp.TOTP(re.search(r'class="secret">([A-Z2-7]+)<', page)[1]).at(clock())
    for password in ("", "a wrong password"):
        answer = browser.send("/account/second-factor", offered=offered, code=code, password=password)
        assert answer.status_code == 401, "who finds an open browser cannot lock its owner out"
    with office.reading() as session:
        assert session.get(Account, ada).second_factor is None
    assert browser.send("/account/second-factor", offered=offered, code=code, password=PASSWORD).status_code == 200


def test_the_picture_is_svg_in_the_page_without_style_or_script(browser, ada):
    browser.sign_in("ada@example.org")
    page = browser.get("/account/second-factor").text
    assert "<svg" in page.split('class="qr"')[1]
    assert " style=" not in page
    assert "<script>" not in page


@pytest.mark.req("P-21")
def test_the_secret_is_kept_sealed_with_the_persons_key(office, enrolled, ada):
    totp, codes = enrolled
    with office.reading() as session:
        kept = session.get(Account, ada).second_factor
    assert totp.secret.encode() not in kept
    assert not any(code.encode() in kept for code in codes)


def test_it_is_switched_off_with_password_and_code(another, enrolled, clock):
    totp, _ = enrolled
    another.sign_in("ada@example.org")
    give(another, totp.at(clock()))
    clock.forward(seconds=30)
    code = totp.at(clock())
    page, off = "/account/second-factor", "/account/second-factor/off"
    assert another.send(page, off, password="wrong password", code=code).status_code == 401
    clock.forward(seconds=30)
    assert another.send(page, off, password=PASSWORD, code=totp.at(clock())).status_code == 200
    assert another.sign_in("ada@example.org").status_code == 200
    assert another.get("/account").status_code == 200


@pytest.mark.req("X-11")
def test_the_evaluation_team_is_nobody_in_particular_without_a_second_factor(browser, ada, office, small, clock):
    with office.writing() as session:
        grant(session, office, COMMAND, RoleGrant(person_id=ada, role="evaluation", campaign_id=small.campaign_id))
    browser.sign_in("ada@example.org")
    assert browser.get("/campaigns/small/submissions").status_code == 403
    assert "second factor" in browser.get("/campaigns/small").text
    switched_on(browser, clock)
    assert browser.get("/campaigns/small/submissions").status_code == 200
