"""The web process dies in uploads, at twenty moments of a call: nobody is blocked, nobody pays twice (X-21)."""

import socket
import time
from collections import Counter
from hashlib import sha256
from urllib.parse import urlencode, urlsplit

import httpx2
import pytest
from sqlalchemy import func, select
from tests.offices.machines import all_ended, free_port, judge, serve, wait_until
from tests.offices.submitting import TUS, begin_upload, client_of, open_text, plan_load

from basanite.campaign.store.tables import Charge, Submission, Upload

SAID = {"task": "CLIR", "label": "run", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}
WHERE = "/api/v1/campaigns/small/submissions"
PARTS = {"no byte": 0.0, "one byte": 1e-9, "half": 0.5, "all but the last byte": 1 - 1e-9}
"""How much of its body a call has sent when the process dies."""
LEADS = (0.6, 0.3, 0.15, 0.08, 0.03, 0.0)
"""Seconds before the death at which others have sent their last byte: being hashed, kept, committed, told."""
MOMENTS = len(PARTS) + len(LEADS)
MINUTE = 60.0


def was_answered(line):
    """Whether the sender was told of its submission before the line broke."""
    try:
        with line:
            told = line.recv(65536)
    except OSError:
        return False
    return b"HTTP/1.1 201" in told or b"basanite-submission" in told.lower()


class Sender:
    """A team that sends one file in one call, byte by byte as the test wants it."""

    def __init__(self, plan, number, content):
        self.plan, self.token, self.content = plan, plan.tokens[number], content
        self.digest = sha256(content).hexdigest()
        place = urlsplit(plan.address)
        self.line = socket.create_connection((place.hostname, place.port), timeout=MINUTE)
        words = urlencode({**SAID, "sha256": self.digest})
        head = f"POST {WHERE}?{words} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
        self.line.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n".encode())
        self.sent = 0

    def send(self, share):
        upto = min(-(-share * len(self.content) // 1), len(self.content) - (share < 1))
        self.line.sendall(self.content[self.sent : int(upto)])
        self.sent = int(upto)

    def again(self):
        """The same call once more, as often as a patient sender would; the id of its submission."""
        said, end = {**SAID, "sha256": self.digest}, time.monotonic() + MINUTE
        with client_of(self.plan, self.token) as client:
            while time.monotonic() < end:
                answer = client.post(WHERE, params=said, content=self.content)
                if answer.status_code == 201:
                    return answer.json()["id"]
                assert answer.status_code in (409, 423, 503), answer.text
                time.sleep(0.3)
        raise AssertionError(answer.text)

    def uploads(self):
        with client_of(self.plan, self.token) as client:
            return client.get("/api/v1/uploads", params={"campaign": "small"}).raise_for_status().json()


class Pieces:
    """A team that sends its file in pieces; the last is under way when the process dies."""

    def __init__(self, plan, number, content):
        self.plan, self.token, self.content = plan, plan.tokens[number], content
        self.said = {"campaign": "small", **SAID, "sha256": sha256(content).hexdigest()}
        with client_of(plan, self.token) as client:
            self.place = begin_upload(client, self.said, len(content))
        place = urlsplit(plan.address)
        self.line = socket.create_connection((place.hostname, place.port), timeout=MINUTE)

    def send(self, share):
        head = f"PATCH {self.place} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nUpload-Offset: 0\r\n"
        head += "Tus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n"
        body = self.content[: int(share * len(self.content))]
        self.line.sendall(f"{head}Content-Length: {len(self.content)}\r\n\r\n".encode() + body)

    def again(self):
        """Begin the same upload again and send what the server lacks; the address of its submission."""
        end = time.monotonic() + MINUTE
        with client_of(self.plan, self.token) as client:
            assert begin_upload(client, self.said, len(self.content)) == self.place
            while time.monotonic() < end:
                found = client.head(self.place, headers=TUS).raise_for_status().headers
                if "basanite-submission" in found:
                    return found["basanite-submission"]
                at = found["upload-offset"]
                headers = {**TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": at}
                answer = client.patch(self.place, headers=headers, content=self.content[int(at) :])
                assert answer.status_code in (204, 409, 423), answer.text
        raise AssertionError("it never ended")


def is_up(plan):
    try:
        return httpx2.get(f"{plan.address}/health/live", timeout=5).status_code == 200
    except httpx2.TransportError:
        return False


def started(machines, plan):
    machines.start("server", serve, plan.settings, urlsplit(plan.address).port)
    assert wait_until(lambda: is_up(plan), MINUTE, 0.05), machines.logs()


def count(office, *where):
    with office.reading() as session:
        return session.scalar(select(func.count()).where(*where))


def play(place, pack, die, url=None):
    """Ten calls in one piece and two in pieces, each at another moment when the process dies; then all try again."""
    office, teams, machines = place(teams=MOMENTS + 2, url=url, text=open_text(quota=1))
    plan = plan_load(office, f"http://127.0.0.1:{free_port()}", teams, [], count=0, pause=0)
    content = pack.perfect.read_bytes()
    started(machines, plan)
    pieces = [Pieces(plan, MOMENTS + number, content) for number in range(2)]
    senders = [Sender(plan, number, content) for number in range(MOMENTS)]
    for sender, share in zip(senders, PARTS.values(), strict=False):
        sender.send(share)
    pieces[0].send(0.5)
    open_ones = (Upload.state == "open",)
    assert wait_until(lambda: count(office, *open_ones) == MOMENTS + 2, MINUTE, 0.05), machines.logs()
    begun = time.monotonic()
    for sender, lead in zip(senders[len(PARTS) :], LEADS, strict=True):
        time.sleep(max(0.0, begun + LEADS[0] - lead - time.monotonic()))
        sender.send(1.0)
    pieces[1].send(1.0)
    die(machines)
    told = [was_answered(sender.line) for sender in senders]
    started(machines, plan)
    back = time.monotonic()
    made = {}
    for number, sender in enumerate(senders):
        if number % 2 and not told[number]:
            made[number] = sender.again()
    freed_within(senders, told, back)  # by the web process alone: no worker is there yet
    machines.worker("worker")
    for number, sender in enumerate(senders):
        if not number % 2 and not told[number]:
            made[number] = sender.again()
    for one in pieces:
        assert was_answered(one.line) or one.again()
    return office, machines, told, made


def freed_within(senders, told, back):
    """Who did not try again is finished or freed within a minute of the restart, and sees it."""
    waiting = [sender for number, sender in enumerate(senders) if not number % 2 and not told[number]]
    assert wait_until(lambda: not any(one.uploads()["team"] for one in waiting), MINUTE - (time.monotonic() - back))
    for one in waiting:
        with client_of(one.plan, one.token) as client:
            there = client.get(WHERE).raise_for_status().json()["submissions"]
        assert there or one.uploads()["interrupted"], "the team does not see what became of its upload"


def check(office, machines, told, made, teams=MOMENTS + 2):
    """One submission of each team, one attempt spent, everything scored once."""
    assert wait_until(lambda: all_ended(office), 2 * MINUTE), machines.logs()
    with office.reading() as session:
        each = Counter(session.scalars(select(Submission.team_id)))
        spent = Counter(session.scalars(select(Charge.team_id).where(Charge.state == "charged")))
        known = set(session.scalars(select(Submission.id)))
    assert (len(each), set(each.values())) == (teams, {1})
    assert spent == each
    assert set(made.values()) <= known
    assert count(office, Upload.state == "open") == count(office, Charge.state == "reserved") == 0
    judgement = judge(office)
    assert judgement.wrong == ()
    assert judgement.states == {"scored": teams}
    return judgement


DEATHS = {"kill -9": lambda machines: machines.kill("server"), "SIGTERM": lambda machines: machines.terminate("server")}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.req("X-21")
@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.timeout(400)
def test_a_web_process_that_dies_in_uploads_costs_nobody_an_attempt(place, pack, death):
    office, machines, told, made = play(place, pack, DEATHS[death])
    assert len(made) >= len(PARTS), "nobody was cut off"
    check(office, machines, told, made)


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.req("X-21")
@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.timeout(600)
def test_the_same_on_postgresql(place, pack, server, template, death):
    check(*play(place, pack, DEATHS[death], url=server.fresh(template)))
