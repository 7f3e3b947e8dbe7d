"""What operators see: health, metrics and log lines, without secrets, scores or names (P-14, X-14)."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import structlog
from fastapi import Depends
from starlette.testclient import TestClient
from tests.offices import engines

from basanite.server.app import make_app
from basanite.server.roles import allow

pytestmark = pytest.mark.req("P-14")


def lines(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_server_that_works_is_live_and_ready(client):
    assert client.get("/health/live").json() == {"status": "up"}
    assert client.get("/health/ready").json()["status"] == "ready"


def test_a_server_whose_database_is_gone_is_live_and_not_ready(office, small, tmp_path):
    with TestClient(make_app(office)) as client:
        # Moved in one step: what runs beside the calls would write into the folder while its files are deleted.
        office.settings.data.rename(tmp_path / "gone")
        engines.leave(tmp_path)
        office.close()  # only now: no connection to what was moved is given back
        assert client.get("/health/live").status_code == 200
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json()["checks"]["database"]) == (503, False)


@pytest.mark.slow
@pytest.mark.req("X-24")
def test_a_thousand_probes_at_once_do_not_disturb_each_other(client, office):
    with ThreadPoolExecutor(20) as threads:
        found = Counter(
            answer.status_code for answer in threads.map(lambda _: client.get("/health/ready"), range(1000))
        )
    assert found == {200: 1000}
    assert not [path.name for path in office.files.folder.iterdir() if path.name.startswith(("tmp", ".probe"))]


def test_metrics_are_for_this_machine_and_for_who_has_their_token(office, small):
    elsewhere = TestClient(make_app(office), client=("198.51.100.7", 1))
    here = TestClient(make_app(office), client=("127.0.0.1", 1))
    token = office.vault.secret("server", "metrics").hex()
    assert elsewhere.get("/metrics").status_code == 401
    assert elsewhere.get("/metrics", headers={"Authorization": "Bearer 00"}).status_code == 401
    assert elsewhere.get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert here.get("/metrics", headers={"X-Forwarded-For": "198.51.100.7"}).status_code == 401
    assert "basanite_submissions" in here.get("/metrics").text
    office.settings.address = "https://eval.example.org"
    assert here.get("/metrics").status_code == 401, "a proxy that tells nothing calls from here too"


def test_each_call_is_one_json_line_with_its_id_and_its_route(client, log):
    answer = client.get("/api/v1/campaigns/small", headers={"X-Request-ID": "abcdefgh-1"})
    (line,) = lines(log)
    assert answer.headers["x-request-id"] == line["request"] == "abcdefgh-1"
    assert (line["route"], line["status"], line["method"]) == ("/api/v1/campaigns/{slug}", 200, "GET")


@pytest.mark.req("X-14")
def test_no_secret_and_no_control_character_reaches_the_log(client, log):
    client.get(
        "/api/v1/campaigns/%1b[31m%0aFORGED", headers={"Authorization": "Bearer bsn_secret", "X-Request-ID": "a\tb"}
    )
    structlog.get_logger("test").warning("odd", name="a\nb\x1b\u202e", token="bsn_secret", password="hunter2")
    text = log.getvalue()
    assert "bsn_secret" not in text
    assert "hunter2" not in text
    assert "FORGED" not in text
    assert all(
        char.isprintable() for line in text.splitlines() for value in json.loads(line).values() for char in str(value)
    )


def test_a_fault_of_ours_is_told_by_a_number_and_nothing_else(office, small, log):
    app = make_app(office)

    @app.get("/broken", dependencies=[Depends(allow("visitor").dependency)])
    def broken() -> None:
        raise RuntimeError("score 0.123 of secret reference")

    answer = TestClient(app, raise_server_exceptions=False).get("/broken")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "0.123" not in answer.text + log.getvalue()
    assert answer.headers["x-request-id"] in answer.json()["detail"]
    assert any(line.get("error") == "RuntimeError" for line in lines(log))


def test_a_request_that_cannot_be_read_is_answered_without_repeating_it(client, office, small):
    from tests.server.conftest import with_token

    headers = {"Authorization": f"Bearer {with_token(office, small.ada)}"}
    answer = client.post("/api/v1/tokens", json={"label": ["hunter2"], "days": "hunter2"}, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert {problem["file"] for problem in answer.json()["problems"]} == {"body.label", "body.days"}
    assert "hunter2" not in answer.text


@pytest.mark.req("X-16")
def test_no_answer_may_be_kept_by_a_cache_and_none_has_a_mark_of_its_content(client):
    for path in ("/api/v1/campaigns", "/api/v1/campaigns/small/windows", "/api/v1/nothing"):
        answer = client.get(path)
        assert (answer.headers["cache-control"], "etag" in answer.headers) == ("no-store", False)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
