"""Signing in with GitHub: a loopback server that speaks as GitHub does, and lies when a test tells it to (P-49)."""

from __future__ import annotations

import json
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.server.accounts.conftest import CHEAP, PASSWORD
from tests.server.accounts.test_oidc import NoRedirect, issuer

from basanite.campaign.settings import Accounts, Provider
from basanite.campaign.store.tables import Account, Grant, Identity, Person

__all__ = ["issuer"]
OLGA = {"id": 4711, "login": "olga-codes", "name": "Olga"}
MAILS = [
    {"email": "old@example.org", "primary": False, "verified": True},
    {"email": "olga@example.org", "primary": True, "verified": True},
]


@pytest.fixture
def accounts(issuer):
    hub = Provider(id="hub", title="The Hub", kind="github", issuer=issuer, client="basanite-test", secret="hub secret")
    return Accounts(**CHEAP.model_dump() | {"providers": (hub,)})


@pytest.fixture
def rig(issuer):
    """Tells the server who comes, and what to do wrong."""

    def set_up(user=OLGA, mails=MAILS, **wrong):
        told = {"user": user, "rig": {"mails": mails, **wrong}}
        call = urllib.request.Request(f"{issuer}/rig", json.dumps(told).encode(), method="POST")
        urllib.request.urlopen(call).close()

    set_up()
    return set_up


def come_back(browser):
    """Go to GitHub, be let in there, and come back."""
    answer = browser.get("/oidc/hub", follow_redirects=False)
    assert answer.status_code == 303, answer.text
    with urllib.request.build_opener(NoRedirect).open(answer.headers["location"]) as there:
        back = urlsplit(there.headers["location"])
    return browser.get(f"{back.path}?{back.query}")


@pytest.mark.req("P-49", case="good")
def test_a_first_visit_makes_an_account_and_a_second_one_finds_it_under_another_name(browser, another, office, rig):
    assert "The Hub" in browser.get("/sign-in").text
    assert "<bdi>Olga</bdi>" in come_back(browser).text
    rig(OLGA | {"login": "renamed", "name": "Somebody else"}, [])
    assert "<bdi>Olga</bdi>" in come_back(another).text, "the number of an account is who it is"
    with office.reading() as session:
        (identity,) = session.query(Identity).all()
        assert identity.subject == "4711"
        assert session.query(Person).count() == 1
        assert session.query(Grant).count() == 0


@pytest.mark.req("P-49")
def test_the_call_asks_for_name_and_mail_alone_and_is_bound_to_this_browser(browser, another, office, rig):
    place = browser.get("/oidc/hub", follow_redirects=False).headers["location"]
    asked = {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}
    assert asked["scope"] == "read:user user:email"
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == "http://127.0.0.1:8000/oidc/hub/return"
    with urllib.request.build_opener(NoRedirect).open(place) as there:
        back = urlsplit(there.headers["location"])
    assert another.get(f"{back.path}?{back.query}").status_code == 401, "a link from somebody else's trip"


@pytest.mark.req("P-49", case="bad")
@pytest.mark.parametrize(
    "wrong",
    [{"expired": True}, {"no_token": True}, {"user_status": 401}, {"user_status": 500}, {"html": True}],
    ids=["expired code", "no token", "refused token", "broken", "no JSON"],
)
def test_an_answer_that_proves_nothing_lets_nobody_in(browser, office, rig, wrong):
    rig(**wrong)
    assert come_back(browser).status_code in (401, 502)
    with office.reading() as session:
        assert session.query(Person).count() == 0


@pytest.mark.req("P-49", case="bad")
@pytest.mark.parametrize("number", [None, "4711", True, 0, -1, 4711.5])
def test_an_account_without_a_number_is_nobody(browser, office, rig, number):
    rig(OLGA | {"id": number})
    assert come_back(browser).status_code == 401


@pytest.mark.req("P-49", case="bad")
@pytest.mark.parametrize(
    "mails",
    [[], [MAILS[0]], [MAILS[1] | {"verified": False}], [MAILS[1] | {"verified": "true"}]],
    ids=["none", "no primary", "not verified", "a word for it"],
)
def test_without_a_verified_primary_address_no_account_is_made(browser, office, rig, mails):
    rig(mails=mails)
    assert "no verified email address" in come_back(browser).text
    with office.reading() as session:
        assert session.query(Account).count() == 0


@pytest.mark.req("P-49")
def test_accounts_are_linked_with_the_password_and_never_by_the_address(browser, another, office, ada, rig):
    rig(mails=[MAILS[1] | {"email": "ada@example.org"}])
    assert "already an account" in come_back(another).text
    browser.sign_in("ada@example.org")
    assert "Enter the password" in come_back(browser).text
    assert browser.send("/account/connect", password="wrong").status_code == 401
    assert "connected" in browser.send("/account/connect", password=PASSWORD).text
    assert come_back(another).status_code == 200
    with office.reading() as session:
        assert session.query(Identity).one().person_id == ada


@pytest.mark.parametrize("given", [{"kind": "github"}, {"secret": "x", "api": "https://api.example"}])
def test_settings_that_cannot_work_are_refused(given):
    with pytest.raises(ValueError, match="github"):
        Provider(id="hub", title="The Hub", issuer="https://hub.example", client="c", **given)
