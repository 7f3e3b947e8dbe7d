"""The page of tokens: shown once, revoked by a button, and never stronger than their maker (X-11)."""

from __future__ import annotations

import re

import pytest

from basanite.campaign.store.tables import Token


def made(browser, **fields):
    answer = browser.send("/account/tokens", **{"label": "laptop", "scope": ["read", "submit"], "days": "30"} | fields)
    return answer, re.search(r'class="secret">(bsn_[\w-]+)<', answer.text)


@pytest.mark.req("X-11", case="good")
def test_a_token_is_shown_once_and_works_until_it_is_revoked(browser, ada, office, client):
    browser.sign_in("ada@example.org")
    answer, found = made(browser)
    assert answer.status_code == 201
    assert found[1] not in browser.get("/account/tokens").text
    headers = {"Authorization": f"Bearer {found[1]}"}
    assert client.__class__(client.app).get("/api/v1/tokens", headers=headers).status_code == 200
    with office.reading() as session:
        token = session.query(Token).one()
        assert found[1] not in str([token.digest, token.label])
    browser.send("/account/tokens", f"/account/tokens/{token.id}/revoke")
    assert client.__class__(client.app).get("/api/v1/tokens", headers=headers).status_code == 401


@pytest.mark.req("X-11", case="bad")
@pytest.mark.parametrize(
    "wrong",
    [{"scope": []}, {"scope": ["everything"]}, {"days": "9999"}, {"days": "-1"}, {"days": "x"}, {"label": "x" * 101}],
)
def test_what_no_token_may_have_is_refused(browser, ada, office, wrong):
    browser.sign_in("ada@example.org")
    answer, found = made(browser, **wrong)
    assert answer.status_code in (403, 422)
    assert found is None


@pytest.mark.req("X-11")
def test_without_a_second_factor_no_token_acts_for_the_evaluation_team(browser, ada):
    browser.sign_in("ada@example.org")
    assert made(browser, scope=["organise"])[0].status_code == 403


def test_a_token_is_no_way_into_pages(browser, ada, client):
    browser.sign_in("ada@example.org")
    _, found = made(browser)
    headers = {"Authorization": f"Bearer {found[1]}", "Accept": "text/html"}
    assert client.__class__(client.app).get("/account", headers=headers).status_code == 403
