"""In a blind week nothing that depends on the reference gets out, at no door, in no header, mail, log or receipt."""

from __future__ import annotations

import io
import json
import re
import tarfile
import threading
from contextlib import contextmanager

import pytest
from sqlalchemy import event, select
from starlette.testclient import TestClient
from tests.server.conftest import add_reference, fresh_office, with_token
from tests.server.doors.sending import bearer, send_raw, send_tus
from tests.server.test_routes import signed_in

import basanite
from basanite.campaign.archive.publication import publish
from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.store.tables import Event, Message, Receipt, Reference, Result
from basanite.server import app
from basanite.server.app import make_app
from basanite.server.roles import list_routes
from basanite.testing import SetClock, season, small_campaign_text

pytestmark = [pytest.mark.req("M68", "P-12", "X-16")]

ODD = frozenset({"/metrics", "/account/second-factor"})
"""For operators alone; and a page that offers a new secret each time."""
VALUES = {"slug": "small", "window": "week"}
WEEK = "2018-04-03 12:00"
MASKED = re.compile(r"[0-9a-f]{16,64}|\d{4}-\d\d-\d\dT[0-9:.+Z-]+|_\d{8}_\d{6}|[A-Za-z0-9_-]{30,}|[a-z]+-[a-z]+-\d{3}")
"""Ids, moments, pseudonyms and the values that our forms carry: they differ whatever was sent."""


def half_right(pack):
    """A run that misses some of what it should find, so that its score is a number of its own."""
    out = io.BytesIO()
    with tarfile.open(pack.perfect) as tar, tarfile.open(fileobj=out, mode="w:gz") as made:
        for number, member in enumerate(tar.getmembers()):
            data = tar.extractfile(member).read()
            data = data.replace(b"Y\t1.0", b"N\t0.0", 1) if number % 2 else data
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return out.getvalue()


def played(folder, pack, content, log, *, eyes=("ada", "bea", "")):
    """A blind week with one submission: what its team, a rival and visitors can see of it at each step."""
    office = fresh_office(folder, SetClock(WEEK))
    text = small_campaign_text().replace('feedback = "none"', 'feedback = "none"\nsettings = { beta = 20.0 }')
    small = season(office, text)
    add_reference(office, small, pack, "EVAL1")
    token, ways = with_token(office, small.ada), list(ways_of(office, small, eyes))
    with TestClient(make_app(office)) as client:
        sent = send_raw(client, token, content, dataset="EVAL1", type="primary")
        assert sent.status_code == 201, sent.text
        steps = [everything(client, ways, sent.json()["id"])]
        with running(office, ()):
            assert until_idle(office, 60) == 0
        steps.append(everything(client, ways, sent.json()["id"]))
        exported(client, ways)
    kept = {"mail": mails(office), "log": log.getvalue(), "receipts": receipts(office), "events": recorded(office)}
    kept["site"] = published(office, folder / "site")
    secrets = planted(office)
    office.close()
    return steps, kept, secrets


def ways_of(office, small, eyes):
    """How each of them calls: programs by a token, browsers by a session, visitors by neither."""
    for name in eyes:
        if name:
            person = getattr(small, name)
            yield "/api/", bearer(with_token(office, person))
            yield "/", signed_in(office, person) | {"Accept": "text/html"}
        else:
            yield "/", {}


def everything(client, ways, submission):
    """Every answer to every question that can be asked, with its headers and how often the database was asked."""
    seen = []
    for begins, headers in ways:
        for route in list_routes(client.app):
            is_page = not route.path.startswith("/api/")
            asked = route.path.startswith(begins) and not (is_page and begins == "/api/")
            if "GET" in route.methods and route.path not in ODD and asked:
                seen.append(answered(client, route.path, submission, headers))
    return seen


def answered(client, route, submission, headers):
    path = re.sub(r"{(\w+)(:\w+)?}", lambda found: VALUES.get(found[1], submission), route)
    params = {"task": "CLIR", "language": "1A", "campaign": "small"} | (
        {} if "{window}" in route else {"window": "week"}
    )
    with counting(client.app.state.office) as count:
        answer = client.get(path, params=params, headers=headers, follow_redirects=False)
    assert "etag" not in answer.headers, route
    assert "server-timing" not in answer.headers, route
    told = sorted((name, value) for name, value in answer.headers.items() if name not in ("date", "set-cookie"))
    return route, answer.status_code, json.dumps(told), answer.text, len(count)


@contextmanager
def counting(office):
    """How often the database is asked: what takes the same steps for every score takes no time of its own for one."""
    asked = []

    def note(connection, cursor, statement, *rest):
        if threading.current_thread().name != app.look_after_uploads.__name__:  # at moments of its own
            asked.append(statement)

    event.listen(office.database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(office.database.engine, "before_cursor_execute", note)


def exported(client, ways):
    """Nobody but organisers gets the export."""
    for _, headers in ways:
        answer = client.post("/campaigns/small/organise/export", headers=headers, follow_redirects=False)
        assert answer.status_code in (303, 401, 403)
        assert "gzip" not in answer.headers["content-type"]


def published(office, folder):
    """All words of the site that `publish` makes, names of files included."""
    publish(office, "small", folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert files
    return [f"{path.name} {path.read_bytes().decode(errors='replace')}" for path in files]


def mails(office):
    with office.reading() as session:
        return json.dumps(
            [[row.template, row.data] for row in session.scalars(select(Message).order_by(Message.template))]
        )


def receipts(office):
    with office.reading() as session:
        return [row.content.decode() for row in session.scalars(select(Receipt))]


def recorded(office):
    with office.reading() as session:
        return json.dumps([[row.kind, row.data] for row in session.scalars(select(Event).order_by(Event.sequence))])


def planted(office):
    """What must be seen nowhere: the reference's id and digest, the result's key."""
    with office.reading() as session:
        reference, result = session.scalars(select(Reference)).one(), session.scalars(select(Result)).one()
        return [reference.id, *reference.files["reference"], result.key, result.digest]


def masked(text):
    return MASKED.sub("#", text)


def test_no_secret_and_no_score_is_seen_before_release(tmp_path, pack, log):
    content = half_right(pack)
    (tmp_path / "half.tgz").write_bytes(content)
    score = basanite.score("clir", reference=pack.key, submission=tmp_path / "half.tgz", beta=20.0)
    number = f"{score.values['aqwv'].value:.6f}"[:-1]
    assert 0.01 < float(number) < 0.99
    steps, kept, secrets = played(tmp_path, pack, content, log)
    text = json.dumps([steps, kept["mail"], kept["log"], kept["receipts"], kept["site"]])
    documents = {line.split("\t")[0] for path in pack.key.iterdir() for line in path.read_text().splitlines()}
    assert [secret for secret in (*secrets, number, *documents) if secret in text] == []
    assert "accepted" in text
    assert number not in kept["events"]


@pytest.mark.slow
def test_a_perfect_and_a_silent_run_look_the_same_at_every_step(tmp_path, pack, log):
    runs = [
        played(tmp_path / name, pack, getattr(pack, name).read_bytes(), log, eyes=("ada",))
        for name in ("perfect", "silent")
    ]
    (perfect, kept_perfect, _), (silent, kept_silent, _) = runs
    for first, second in zip(perfect, silent, strict=True):
        pairs = zip(map(told, first), map(told, second), strict=True)
        assert [differing(one, other) for one, other in pairs if one != other] == []
    assert masked(kept_perfect["mail"]) == masked(kept_silent["mail"])
    assert kinds(kept_perfect["events"]) == kinds(kept_silent["events"])


SIZE = re.compile(r'size": ?\d+|\d+ bytes|[\d.,]+\s?(?:B|kB|KB|KiB)\b|content-length\\?", \\?"\d+')


def told(answer):
    """An answer without ids, moments, and the size of the file that was sent, which its team knows."""
    path, status, headers, body, asked = answer
    return path, status, SIZE.sub("size", masked(headers)), SIZE.sub("size", masked(body)), asked


def differing(one, other):
    """Where two answers differ first."""
    lines = zip(one[3].splitlines(), other[3].splitlines(), strict=False)
    return one[0], one[1:3], other[1:3], one[4:], other[4:], next((pair for pair in lines if pair[0] != pair[1]), None)


def kinds(events):
    return [kind for kind, _ in json.loads(events)]


def test_doors_tell_the_same_in_a_blind_week(tmp_path, pack):
    office = fresh_office(tmp_path, SetClock(WEEK))
    small = season(office)
    token = with_token(office, small.ada)
    with TestClient(make_app(office)) as client:
        raw = send_raw(client, token, pack.perfect.read_bytes(), dataset="EVAL1", label="one").json()["url"]
        tus = send_tus(client, token, pack.perfect.read_bytes(), dataset="EVAL1", label="two")
        states = [
            client.get(url, headers=bearer(token)).json()["state"] for url in (raw, tus.headers["basanite-submission"])
        ]
    assert states == ["received", "received"]
    office.close()
