"""What a hostile team, a curious visitor and a judge with bad intentions tried here, each with what stops it now."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from select import select as readable
from urllib.parse import urlsplit

import httpx2
import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient
from tests.offices.prepared import small_season
from tests.server.accounts.conftest import CHEAP, Browser, add_user, link_in_mail
from tests.server.conftest import fresh_office, with_token
from tests.server.doors.sending import bearer, begin, send, send_raw, send_tus, sha256
from tests.server.doors.test_drop_folder import NAME
from tests.server.live import live
from tests.server.test_routes import signed_in

from basanite.campaign.intake import recovery, uploads
from basanite.campaign.intake.drop_folder import look
from basanite.campaign.people.persons import Newcomer, add_person
from basanite.campaign.people.privacy import shared_addresses
from basanite.campaign.store.tables import AddressSeen, Charge, Submission
from basanite.server.app import make_app
from basanite.server.guard import LARGEST_BODY
from basanite.server.roles import list_routes
from basanite.testing import small_campaign_text
from basanite.testing.season import grant_first

RUNS = "/api/v1/campaigns/small/submissions"


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock, drop=tmp_path / "drop", accounts=CHEAP)
    yield made
    made.close()


@pytest.fixture
def token(office, small):
    return with_token(office, small.ada)


def counted(office, table):
    with office.reading() as session:
        return session.scalar(select(func.count()).select_from(table))


@pytest.mark.req("P-11")
@pytest.mark.req("P-12")
def test_the_evaluation_team_of_one_campaign_sees_nothing_of_another(client, office, small, token, pack):
    sent = send_raw(client, token, pack.perfect.read_bytes()).json()
    other = small_season(office, small_campaign_text(slug="other"))
    with office.writing() as session:
        person = add_person(session, office, Newcomer(name="Mallory", mail="mallory@people.example")).id
        grant_first(session, office, other.campaign_id, person, reason="organises the other one", by=person)
    headers = bearer(with_token(office, person))
    for ending in ("", "/results", "/problems", "/receipts/intake", "/receipts/score"):
        answer = client.get(sent["url"].replace("/small/", "/other/") + ending, headers=headers)
        assert answer.status_code == 404, ending
    why = {"reason": "mine"}
    for deed in ("primary", "withdrawal"):
        answer = client.post(f"/api/v1/campaigns/other/submissions/{sent['id']}/{deed}", json=why, headers=headers)
        assert answer.status_code in (403, 404), deed


@pytest.mark.req("P-11")
@pytest.mark.req("X-11")
def test_where_everybody_may_look_a_token_shows_no_more_than_its_scopes(client, office, small):
    allowances = [
        client.get("/api/v1/campaigns/small/windows", headers=bearer(with_token(office, small.ada, scopes=(scope,))))
        for scope in ("read", "download")
    ]
    assert [bool(answer.json()[0]["mine"]) for answer in allowances] == [True, False]
    page = client.get("/campaigns/small", headers=bearer(with_token(office, small.ada)) | {"Accept": "text/html"})
    assert (page.status_code, "/campaigns/small/submit" in page.text) == (200, False)


@pytest.mark.req("P-11")
def test_a_body_that_is_read_into_memory_is_cut_off_before_anybody_is_asked_who_they_are(client, token):
    pieces = iter([b"[" * 65536] * (2 * LARGEST_BODY // 65536))
    assert client.post("/api/v1/tokens", content=pieces).status_code == 413
    large = {"label": "x" * 2 * LARGEST_BODY}
    assert client.post("/api/v1/tokens", json=large, headers=bearer(token)).status_code == 413


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b'{"label": "a\\u0000b"}', b'{"label": "\\ud800"}', b'{"label": 1e999}', b"\xff\xfe", b"null"],
    ids=["deep", "nul", "surrogate", "infinite", "latin", "null"],
)
def test_a_body_of_odd_json_is_a_mistake_of_who_sent_it(client, token, body):
    headers = bearer(token) | {"Content-Type": "application/json"}
    answer = client.post("/api/v1/tokens", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) in [
        (400, "application/problem+json"),
        (422, "application/problem+json"),
    ]


ODD = ["\0", "a\0b", "\u202e", "x" * 5000, "../../x", "a\r\nX-Evil: 1", "<b>", "\U0001f4a9", "a-b", ""]


@pytest.mark.req("P-11")
@pytest.mark.req("M55")
def test_odd_words_about_an_upload_are_refused(client, office, token):
    for name in ("label", "task", "dataset", "language", "queryset", "track", "condition", "type"):
        for word in ODD[: len(ODD) if name == "label" else -1]:
            answer = begin(client, token, b"content", **{name: word})
            assert answer.status_code in (400, 404, 409, 422), (name, word, answer.text)
    for word in ODD[2:]:
        assert send_raw(client, token, b"content", label=word).status_code == 422, word
    assert counted(office, Charge) == 0


@pytest.mark.req("P-11")
def test_an_address_of_ours_never_leads_to_the_host_that_a_call_names(client):
    headers = {"Host": "evil.example.org", "X-Forwarded-Host": "evil.example.org", "Accept": "text/html"}
    for path in ("/campaigns/small/", "/sign-in/", "//evil.example.org/", "/campaigns", "/account", "/campaigns/none"):
        answer = client.get(path, headers=headers, follow_redirects=False)
        assert "evil" not in answer.headers.get("location", ""), path
        assert 'href="http://evil' not in answer.text


@pytest.mark.req("P-11")
@pytest.mark.req("X-11")
def test_links_in_mails_begin_with_our_own_address_whatever_host_a_call_names(office, small):
    add_user(office, mail="reset@example.org")
    browser = Browser(TestClient(make_app(office), base_url="http://evil.example.org"))
    browser.send("/forgotten", mail="reset@example.org")
    from basanite.campaign.notices.messages import letter
    from basanite.campaign.store.tables import Message

    with office.reading() as session:
        row = session.scalars(select(Message).where(Message.template == "reset")).one()
        body = letter(session, office, row).body
    assert (office.address in body, "evil" in body) == (True, False)
    assert link_in_mail(office, "reset")


ELSEWHERE = [
    "//evil.example.org",
    "https://evil.example.org/",
    "/\\evil.example.org",
    "javascript:alert(1)",
    "\t//evil",
]
ELSEWHERE += ["/%2f/evil.example.org", "/\t/evil.example.org", "http:evil.example.org", "/api/v1/keys", " //evil"]


@pytest.mark.req("P-11")
@pytest.mark.req("X-11")
def test_signing_in_leads_to_no_other_site(office, small):
    add_user(office)
    for then in ELSEWHERE:
        browser = Browser(TestClient(make_app(office)))
        answer = browser.sign_in("ada@example.org", then=then, follow=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/"), then
        again = browser.get("/sign-in", params={"then": then}, follow_redirects=False)
        assert again.headers["location"] == "/", then


@pytest.mark.req("P-11")
@pytest.mark.req("X-7")
def test_addresses_that_teams_share_are_shown_to_the_organiser_alone(office, small, pack):
    app = make_app(office)
    for person, where in ((small.ada, "198.51.100.7"), (small.bea, "198.51.100.7")):
        client = TestClient(app, client=(where, 1))
        assert send_raw(client, with_token(office, person), pack.perfect.read_bytes()).status_code == 201
    with office.reading() as session:
        (shared,) = shared_addresses(session, small.as_eva, small.campaign_id)
    assert set(shared.teams) == {small.alpha, small.beta}


@pytest.mark.req("P-11")
@pytest.mark.req("X-7")
def test_signing_in_leaves_the_address_as_a_digest(office, small):
    person = add_user(office)
    Browser(TestClient(make_app(office), client=("198.51.100.8", 1))).sign_in("ada@example.org")
    with office.reading() as session:
        (row,) = session.scalars(select(AddressSeen)).all()
    assert (row.person_id, "198.51.100.8" in row.digest) == (person, False)


@pytest.mark.req("P-11")
@pytest.mark.req("X-7")
@pytest.mark.parametrize(("proxies", "kept"), [((), 0), (("192.0.2.1",), 0), (("127.0.0.1",), 1)], ids=str)
def test_a_header_tells_where_a_call_comes_from_only_if_a_proxy_that_is_named_sent_it(
    tmp_path, clock, pack, proxies, kept
):
    office = fresh_office(tmp_path / "own", clock, proxies=proxies)
    token = with_token(office, small_season(office).ada)
    with live(office) as address, httpx2.Client(base_url=address, timeout=120) as client:
        headers = {"X-Forwarded-For": "198.51.100.9", "X-Real-IP": "198.51.100.9"}
        client.headers.update(headers)
        assert send_raw(client, token, pack.perfect.read_bytes()).status_code == 201
    assert counted(office, AddressSeen) == kept
    office.close()


def line_to(address):
    where = urlsplit(address)
    return socket.create_connection((where.hostname, where.port), 60)


def ended(line, within):
    """Whether the server hangs up within some seconds, whatever it says before."""
    line.settimeout(within)
    try:
        while line.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionResetError:
        pass
    return True


@pytest.mark.req("P-11")
def test_a_head_that_never_ends_does_not_keep_a_line(office, small):
    with live(office, timeout_keep_alive=1) as address:
        with line_to(address) as silent, line_to(address) as slow:
            slow.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n")
            for _ in range(6):
                time.sleep(0.3)
                try:
                    slow.sendall(b"X-A: b\r\n")
                except OSError:
                    break
            assert ended(slow, 60)
            assert ended(silent, 60)
        assert httpx2.get(f"{address}/health/live", timeout=120).status_code == 200


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    "head",
    [
        b"GET /health/live HTTP/1.1\r\nHost: x\r\n" + b"X-A: " + b"b" * 200_000,
        b"GET /" + b"a" * 200_000,
        b"POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n\r\nhello",
        b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: b\r\n continued\0\r\n\r\n",
    ],
    ids=["header", "target", "two lengths", "long length", "odd encoding", "nul"],
)
def test_heads_that_are_too_large_or_say_two_things_are_answered_with_a_refusal(office, small, head):
    with live(office) as address, line_to(address) as line:
        try:
            line.sendall(head)
        except (BrokenPipeError, ConnectionResetError):
            return
        said = line.recv(65536)
        assert re.match(rb"HTTP/1.1 4\d\d ", said), said[:100]
        assert httpx2.get(f"{address}/health/live", timeout=120).status_code == 200


@pytest.mark.req("P-11")
def test_slow_senders_keep_their_own_lanes_busy_and_nobody_elses(office, small, pack):
    mine = signed_in(office, small.ada)
    head = (
        f"POST /campaigns/small/submit HTTP/1.1\r\nHost: x\r\nCookie: {mine['Cookie']}\r\nContent-Length: 100000\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
    ).encode()
    with ExitStack() as kept:
        address = kept.enter_context(live(office))
        client = kept.enter_context(httpx2.Client(base_url=address, timeout=120))
        lines = [kept.enter_context(line_to(address)) for _ in range(9)]
        for line in lines:
            line.sendall(head)
        answered = readable(lines, [], [], 120)[0]  # whichever came last to its lane
        assert [b" 429 " in line.recv(65536) for line in answered] == [True]
        assert send_raw(client, with_token(office, small.bea), pack.perfect.read_bytes()).status_code == 201
        assert readable([line for line in lines if line not in answered], [], [], 0)[0] == []


def test_what_a_form_is_writing_is_not_swept_away(office, small):
    folder = uploads.part(office, "x").parent
    folder.mkdir(parents=True)
    for name in ("form-new", "form-old"):
        (folder / name).write_bytes(b"half")
    (folder / "export-old").mkdir()
    for name in ("form-old", "export-old"):
        os.utime(folder / name, (0, 0))
    assert recovery.sweep(office) == 2
    assert [path.name for path in folder.iterdir()] == ["form-new"]


@pytest.mark.req("P-11")
@pytest.mark.req("X-2")
def test_two_who_send_to_one_upload_at_once_make_one_submission(office, small, token, pack):
    content = pack.perfect.read_bytes()
    with live(office) as address, httpx2.Client(base_url=address, timeout=120) as client:
        place = begin(client, token, content).headers["location"]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda _: send(client, token, place, 0, content).status_code, range(6)))
        again = [send(client, token, place, len(content), b"").status_code for _ in range(2)]
    assert 204 in answers
    assert set(answers) | set(again) <= {204, 409, 410, 413, 423}
    assert (counted(office, Submission), counted(office, Charge)) == (1, 1)


@pytest.mark.req("P-11")
@pytest.mark.req("M79", "X-2")
def test_one_attempt_is_one_attempt_whatever_doors_are_tried_at_once(office, pack):
    small = small_season(office, small_campaign_text(quota=1))
    token, mine, content = with_token(office, small.ada), signed_in(office, small.alan), pack.perfect.read_bytes()
    folder = office.settings.drop / "Alpha"
    folder.mkdir(parents=True)
    shutil.copy(pack.perfect, folder / NAME.format(label="drop"))
    fields = {"csrf": mine["X-CSRF-Token"], "slot": "dev|CLIR|1A|", "label": "form", "type": "contrastive"}

    def by_form():
        files = {"file": ("form.tgz", content)}
        return client.post("/campaigns/small/submit", data=fields, files=files, headers={"Cookie": mine["Cookie"]})

    with live(office) as address, httpx2.Client(base_url=address, timeout=60) as client:
        doors = [
            lambda: send_raw(client, token, content, label="raw"),
            lambda: send_tus(client, token, content, label="tus"),
            by_form,
            lambda: look(office),
        ] * 2
        with ThreadPoolExecutor(len(doors)) as pool:
            for door in [pool.submit(door) for door in doors]:
                door.result()
    assert counted(office, Submission) == 1
    with office.reading() as session:
        assert session.scalars(select(Charge.state).where(Charge.state != "freed")).all() == ["reserved"]


@pytest.mark.req("P-11")
def test_what_is_refused_at_a_door_leaves_no_file_behind(client, office, small, pack):
    folder = office.settings.drop / "Alpha"
    folder.mkdir(parents=True)
    shutil.copy(pack.perfect, folder / NAME.replace("DEV", "EVAL1").format(label="early"))
    assert look(office) == 0
    mine = signed_in(office, small.ada)
    fields = {"csrf": mine["X-CSRF-Token"], "slot": "week|CLIR|1A|", "label": "early", "type": "contrastive"}
    files = {"file": ("early.tgz", pack.perfect.read_bytes())}
    answer = client.post("/campaigns/small/submit", data=fields, files=files, headers={"Cookie": mine["Cookie"]})
    assert answer.status_code in (403, 409, 422)
    kept = set(office.files.digests())
    assert sha256(pack.perfect.read_bytes()) not in kept
    assert list(uploads.part(office, "x").parent.iterdir()) == []


HOSTILE = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>\u202egpj.exe"


@pytest.mark.req("P-11")
@pytest.mark.req("X-14")
def test_a_hostile_string_is_a_word_on_every_page_and_in_every_answer(client, office, small, token, pack):
    from basanite.campaign.office import COMMAND
    from basanite.campaign.people.communication import Letter, announce

    sent = send_raw(client, token, pack.perfect.read_bytes(), description=HOSTILE).json()
    client.post(f"{sent['url']}/withdrawal", json={"reason": HOSTILE}, headers=bearer(token))
    with office.writing() as session:
        announce(session, office, COMMAND, small.campaign_id, Letter(title=HOSTILE[:60], text=HOSTILE))
    seen = 0
    for who in (small.ada, small.eva):
        headers = signed_in(office, who) | {"Accept": "text/html"}
        for route in list_routes(client.app):
            if "GET" in route.methods and route.path != "/metrics":
                path = re.sub(r"{(\w+)(:\w+)?}", lambda at: "small" if at[1] == "slug" else sent["id"], route.path)
                answer = client.get(path, headers=headers, follow_redirects=False)
                seen += "onerror=alert(1)" in answer.text
                assert answer.status_code < 500, path
                if "html" in answer.headers.get("content-type", ""):
                    found = [bad for bad in ("<img src=x", "<script>alert", "\u202e") if bad in answer.text]
                    assert (path, found) == (path, [])
    assert seen >= 4


@pytest.mark.req("P-11")
def test_no_method_is_turned_into_another_but_where_tus_asks_for_it(client, office, small, token, pack):
    sent = send_raw(client, token, pack.perfect.read_bytes()).json()
    headers = bearer(token) | {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
    for url in (sent["url"], "/api/v1/tokens", "/api/v1/campaigns/small/packs?_method=DELETE"):
        assert client.get(url, headers=headers).status_code == 200
    for method in ("HEAD", "OPTIONS", "TRACE", "PROPFIND", "get"):
        answer = client.request(method, sent["url"], headers=bearer(with_token(office, small.bea)))
        assert answer.status_code in (404, 405), method


@pytest.mark.req("P-11")
def test_tokens_and_ids_of_other_teams_are_worth_nothing_here(client, office, small, token, pack):
    sent = send_raw(client, token, pack.perfect.read_bytes()).json()
    rival = bearer(with_token(office, small.bea))
    for url in (
        sent["url"],
        sent["url"].upper(),
        sent["url"] + "%2f",
        sent["url"].replace("submissions/", "submissions/./"),
    ):
        for ending in ("", "/results", "/problems", "/receipts/intake", "/receipts/score"):
            assert client.get(url + ending, headers=rival).status_code in (404, 405), url + ending
    doubled = [("Authorization", rival["Authorization"]), ("Authorization", f"Bearer {token}")]
    assert client.get(sent["url"], headers=doubled).status_code == 404
    body = {"reason": "mine now"}
    assert client.post(f"{sent['url']}/withdrawal", json=body, headers=rival).status_code == 404
    body = {"description": {"text": "mine now"}}
    assert client.put(f"{sent['url']}/description", json=body, headers=rival).status_code == 404


@pytest.mark.req("P-11")
@pytest.mark.req("X-11")
def test_where_people_come_by_https_cookies_and_answers_insist_on_it(tmp_path, clock):
    office = fresh_office(tmp_path / "https", clock, accounts=CHEAP, address="https://evaluation.example.org")
    add_user(office)
    browser = Browser(TestClient(make_app(office), base_url="https://evaluation.example.org"))
    answer = browser.sign_in("ada@example.org", follow=False)
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith("__Host-basanite=")]
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "max-age" in answer.headers["strict-transport-security"]
    assert (answer.headers["x-frame-options"], answer.headers["cache-control"]) == ("DENY", "no-store")
    office.close()
