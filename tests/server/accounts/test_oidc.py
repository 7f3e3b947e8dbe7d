"""Signing in at a provider: a real one in a process of its own, which lies when a test tells it to (X-11)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.server.accounts.conftest import CHEAP, PASSWORD, add_user

from basanite.campaign.settings import Accounts, Provider
from basanite.campaign.store.tables import Account, Grant, Identity, Person

OLGA = {"sub": "s-1", "name": "Olga", "email": "olga@example.org", "email_verified": True}


@pytest.fixture(scope="module")
def issuer(repository):
    """The address of a provider that runs while the tests of this file do."""
    command = [sys.executable, "-m", "tests.server.accounts.provider"]
    with subprocess.Popen(command, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


@pytest.fixture
def accounts(issuer):
    provider = Provider(id="test", title="The Provider", issuer=issuer, client="basanite-test", secret="not+a+secret")
    return Accounts(**CHEAP.model_dump() | {"providers": (provider,)})


@pytest.fixture
def rig(issuer, clock):
    """Tells the provider whom to let in and what to do wrong."""

    def set_up(user=OLGA, **wrong):
        told = {"user": user, "rig": {"now": clock().timestamp(), **wrong}}
        call = urllib.request.Request(f"{issuer}/rig", json.dumps(told).encode(), method="POST")
        urllib.request.urlopen(call).close()

    set_up()
    return set_up


def leave(browser, then="/"):
    """Go to the provider; gives where we are sent back to, with code and state."""
    answer = browser.get(f"/oidc/test?then={then}", follow_redirects=False)
    assert answer.status_code == 303, answer.text
    with urllib.request.build_opener(NoRedirect).open(answer.headers["location"]) as there:
        back = there.headers["location"]
    return urlsplit(back).path + "?" + urlsplit(back).query


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Gives the redirect itself, as a browser sees it."""

    def http_error_302(self, request, answer, code, message, headers):
        return answer


def come_back(browser, **options):
    return browser.get(leave(browser), **options)


@pytest.mark.req("X-11", case="good")
def test_a_first_visit_makes_an_account_and_a_second_one_finds_it(browser, another, office, rig):
    assert "<bdi>Olga</bdi>" in come_back(browser).text
    assert come_back(another).status_code == 200
    with office.reading() as session:
        (identity,) = session.query(Identity).all()
        assert identity.subject == "s-1"
        assert session.query(Person).count() == 1
        assert session.query(Grant).count() == 0, "claims give no role"


@pytest.mark.req("X-11")
def test_the_call_carries_state_nonce_and_a_challenge_and_names_the_one_return_address(browser, office, rig):
    answer = browser.get("/oidc/test", follow_redirects=False)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 32
    assert len(asked["nonce"]) >= 32
    assert asked["redirect_uri"] == "http://127.0.0.1:8000/oidc/test/return"


@pytest.mark.req("P-49")
def test_a_provider_with_the_scope_openid_that_takes_the_secret_in_the_form_is_asked_so(browser, office, rig):
    rig(metadata={"scopes_supported": ["openid"], "token_endpoint_auth_methods_supported": ["client_secret_post"]})
    answer = browser.get("/oidc/test", follow_redirects=False)
    assert parse_qs(urlsplit(answer.headers["location"]).query)["scope"] == ["openid"]
    assert "<bdi>Olga</bdi>" in come_back(browser).text


@pytest.mark.few(4)
@pytest.mark.req("X-11", case="bad")
@pytest.mark.parametrize(
    "wrong",
    [
        {"claims": {"nonce": "another"}},
        {"claims": {"nonce": None}},
        {"claims": {"aud": "somebody-else"}},
        {"claims": {"aud": None}},
        {"claims": {"aud": ["basanite-test", "evil"], "azp": "evil"}},
        {"claims": {"iss": "https://evil.example"}},
        {"claims": {"exp": 1}},
        {"claims": {"exp": None}},
        {"claims": {"sub": None}},
        {"claims": {"sub": ""}},
        {"claims": {"iat": 4102444800}},
        {"other_key": True},
        {"unsigned": True},
        {"expired": True},
    ],
    ids=[
        "wrong nonce",
        "no nonce",
        "wrong audience",
        "no audience",
        "another party",
        "wrong issuer",
        "expired token",
        "endless token",
        "nobody",
        "empty subject",
        "token of the future",
        "another key",
        "unsigned",
        "expired code",
    ],
)
def test_a_token_that_is_not_for_us_now_proves_nothing(browser, office, rig, wrong):
    rig(**wrong)
    answer = come_back(browser)
    assert answer.status_code == 401
    assert browser.get("/account").status_code == 401
    with office.reading() as session:
        assert session.query(Person).count() == 0


@pytest.mark.req("X-11", case="bad")
def test_a_replayed_code_is_refused(browser, another, rig):
    back = leave(browser)
    assert browser.get(back).status_code == 200
    assert browser.get(back).status_code == 401, "the trip is over"
    again = leave(another)
    replayed = back.replace(parse_qs(urlsplit(back).query)["state"][0], parse_qs(urlsplit(again).query)["state"][0])
    assert another.get(replayed).status_code == 401, "the provider knows the code was used"


@pytest.mark.req("X-11", case="bad")
def test_a_forged_or_foreign_state_is_refused(browser, another, rig):
    back = leave(browser)
    state = parse_qs(urlsplit(back).query)["state"][0]
    assert browser.get(back.replace(state, "forged")).status_code == 401
    assert another.get(leave(browser)).status_code == 401, "a victim who is sent an attacker's link"
    assert browser.get("/oidc/test/return").status_code == 401
    assert browser.get("/oidc/test/return?error=access_denied&state=x").status_code == 401


@pytest.mark.req("X-11")
def test_an_account_is_never_joined_by_its_mail_address(browser, office, rig):
    add_user(office, "Olga", "olga@example.org")
    answer = come_back(browser)
    assert answer.status_code == 409
    assert "connect the provider" in answer.text
    assert browser.get("/account").status_code == 401
    with office.reading() as session:
        assert session.query(Identity).count() == 0


@pytest.mark.req("X-11")
def test_a_provider_that_vouches_for_no_address_makes_no_account(browser, office, rig):
    for user in (OLGA | {"email_verified": False}, OLGA | {"email_verified": "true"}, {"sub": "s-2"}):
        rig(user=user)
        assert come_back(browser).status_code == 403
    with office.reading() as session:
        assert session.query(Person).count() == 0


@pytest.mark.req("X-11")
def test_who_is_signed_in_connects_a_provider_with_the_password(browser, another, office, ada, rig):
    browser.sign_in("ada@example.org")
    assert "Connect a provider" in come_back(browser).text
    assert browser.send("/account/connect", password="wrong password").status_code == 401
    with office.reading() as session:
        assert session.query(Identity).count() == 0
    assert browser.send("/account/connect", password=PASSWORD).status_code == 200
    assert "<bdi>Ada</bdi>" in come_back(another).text


@pytest.mark.req("X-11")
def test_an_identity_of_somebody_else_cannot_be_connected(browser, another, office, ada, rig):
    come_back(another)
    browser.sign_in("ada@example.org")
    come_back(browser)
    assert "<bdi>Olga</bdi>" in browser.get("/account").text, "one is signed in as who one is there"


@pytest.mark.req("X-11")
def test_the_same_subject_of_another_issuer_is_somebody_else(browser, office, rig, issuer):
    person = add_user(office, "Eve", "eve@example.org")
    with office.writing() as session:
        session.add(Identity(issuer="https://other.example", subject="s-1", person_id=person, made=office.clock()))
    assert "<bdi>Olga</bdi>" in come_back(browser).text


@pytest.mark.req("X-11")
def test_claims_of_roles_and_groups_give_none(browser, office, rig):
    rig(user=OLGA | {"roles": ["administrator"], "groups": ["evaluation"], "admin": True})
    come_back(browser)
    with office.reading() as session:
        assert session.query(Grant).count() == 0


def test_a_provider_under_another_name_is_not_asked_any_further(browser, rig):
    rig(issuer="https://evil.example")
    assert browser.get("/oidc/test", follow_redirects=False).status_code == 401


def test_an_unknown_provider_is_not_there(browser):
    assert browser.get("/oidc/evil", follow_redirects=False).status_code == 404


def test_a_provider_that_cannot_be_reached_is_said_so(browser, office):
    office.settings.accounts.providers[0].issuer = "http://127.0.0.1:1"
    answer = browser.get("/oidc/test", follow_redirects=False)
    assert answer.status_code == 502


@pytest.mark.req("X-11")
def test_a_second_factor_is_asked_for_after_a_provider_too(browser, another, office, rig, clock):
    from tests.server.accounts.test_second_factor import switched_on

    come_back(browser)
    switched_on(browser, clock)
    assert "second factor" in come_back(another).text
    assert another.get("/account").status_code == 401


def test_a_closed_account_stays_closed(browser, another, office, rig):
    come_back(browser)
    with office.writing() as session:
        session.query(Account).one().closed = office.clock()
    assert come_back(another).status_code == 403


@pytest.mark.req("X-11")
def test_the_way_back_leads_to_pages_of_ours_only(browser, rig):
    assert browser.get(leave(browser, "https://evil.example/"), follow_redirects=False).headers["location"] == "/"
    assert browser.get(leave(browser, "/account"), follow_redirects=False).headers["location"] == "/account"


@pytest.mark.req("X-32", case="bad")
def test_where_nobody_may_sign_up_a_stranger_of_the_provider_gets_no_account(browser, office, rig):
    office.settings.accounts.sign_up = False
    answer = come_back(browser)
    assert answer.status_code == 403
    assert "accounts here are by invitation only" in answer.text
    assert "ask the organizers to invite you" in answer.text
    with office.reading() as session:
        assert session.query(Person).count() == 0
    office.settings.accounts.sign_up = True
    assert "<bdi>Olga</bdi>" in come_back(browser).text


@pytest.mark.req("X-26")
def test_who_comes_from_a_provider_under_the_name_of_an_organizer_is_let_in_under_another(
    browser, another, office, rig
):
    eva = add_user(office, "Eva Low", "eva@example.org")
    with office.writing() as session:
        session.add(Grant(person_id=eva, role="administrator", at=office.clock(), by="command"))
    rig(user=OLGA | {"name": "Еvа L0w"})
    page = come_back(browser).text
    assert "Your name can be confused with another one here. You appear as olga" in page
    rig(user=OLGA | {"sub": "s-2", "name": "Eva\u202e Low", "email": "eva.low@example.org"})
    page = come_back(another).text
    assert re.search(r"<bdi>Somebody \d{4}</bdi>", page), "neither name nor address will do"
    assert "Low" not in page
