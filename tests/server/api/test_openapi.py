"""The OpenAPI document is good enough for programs: schemathesis asks odd questions and finds no server error (P-4)."""

from __future__ import annotations

import hypothesis
import pytest
import schemathesis
from tests.server.conftest import with_token
from tests.server.doors.sending import bearer, send_raw

from basanite.server.app import make_app
from basanite.testing import SetClock, season, small_office, small_pack

pytestmark = pytest.mark.req("P-4")

EXAMPLES = [1, pytest.param(8, marks=pytest.mark.slow)]
"""Questions for each operation: `make test-all` asks more."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An application with one submission in it, and somebody who may do everything a member may."""
    folder = tmp_path_factory.mktemp("openapi")
    office = small_office(folder, SetClock())
    small = season(office)
    app = make_app(office)
    from starlette.testclient import TestClient

    token = with_token(office, small.ada)
    with TestClient(app) as client:
        send_raw(client, token, small_pack(folder / "pack").perfect.read_bytes())
    yield app, token
    office.close()


@pytest.mark.req("P-12")
@pytest.mark.parametrize("examples", EXAMPLES)
def test_no_question_ends_in_a_server_error(served, examples):
    app, token = served
    document = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    asked = [_asked(operation.ok(), token, examples) for operation in document.get_all_operations()]
    assert sum(asked) >= 25 * examples


def _asked(operation, token, examples):
    """Ask one operation odd questions; gives how many."""
    count = 0

    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def ask(case):
        nonlocal count
        count += 1
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = "small"
        answer = case.call(headers=bearer(token))
        assert answer.status_code < 500 or answer.status_code == 507, (case.as_curl_command(), answer.text)
        if answer.status_code >= 400 and case.method != "HEAD":
            assert answer.headers["content-type"][0].startswith("application/problem+json"), answer.headers

    ask()
    return count


def test_every_operation_is_described_and_says_how_it_fails(served):
    document = served[0].openapi()
    operations = [(path, verb, one) for path, verbs in document["paths"].items() for verb, one in verbs.items()]
    assert [name for *name, one in operations if not one.get("description") or "default" not in one["responses"]] == []
    ids = [one["operationId"] for *_, one in operations]
    assert len(ids) == len(set(ids)) > 25
    assert all(path.startswith("/api/v1/") for path in document["paths"])


def test_schemas_have_names_of_their_own_so_that_clients_never_depend_on_where_code_lies(served):
    app, _ = served
    assert [name for name in app.openapi()["components"]["schemas"] if "__" in name] == []
