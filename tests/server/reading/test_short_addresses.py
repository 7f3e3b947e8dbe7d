"""The addresses of the contract that name no campaign: the same services, found by a task's or a run's id (R-23)."""

from __future__ import annotations

import httpx2
import pytest
import rdflib
from tests.campaign.work.reading.small_package import TRAIN, answers_of, ndjson
from tests.server.conftest import with_token
from tests.server.reading.conftest import PLAIN

from basanite.campaign.store.tables import Person

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")
LINES = {"Content-Type": "application/x-ndjson"}
WANTED = {"campaign": "small", "package": "nfl-scoring", "part": "train", "types": ["property"], "sample": 5, "seed": 3}
OVERTIME = [["g1", "hasOvertimePlay", "true"]]
UNKNOWN = "0" * 20


@pytest.fixture(autouse=True)
def children():
    """Real ones, each a new Python in a box, as on a server."""


@pytest.fixture(scope="module")
def stranger(served):
    """Somebody with an account and a token, and no part in the campaign."""
    office = served.reading.office
    with office.writing() as session:
        person = Person(made=office.clock())
        session.add(person)
        session.flush()
        name = person.id
    served.tokens["stranger"] = with_token(office, name)
    return "stranger"


def call(served, who, method, path, *, headers=None, **more):
    sent = served.headers(who) if who else {}
    address = f"{served.address}/api/v1{path}"
    return httpx2.request(method, address, headers=sent | (headers or {}), timeout=60, verify=PLAIN, **more)


@pytest.fixture(scope="module")
def task(served):
    """A practice task of Ada's team, made without a campaign in the address."""
    answer = call(served, "ada", "POST", "/reading-tasks", json=WANTED)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def run(served, task):
    answer = call(served, "ada", "POST", "/runs", json={"task": task["id"], "label": "reader", "key": "short"})
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.req("R-23")
def test_a_task_is_made_listed_and_fetched_by_its_id_alone(served, task):
    by_query = {name: value for name, value in WANTED.items() if name != "campaign"}
    again = call(served, "ada", "POST", "/reading-tasks?campaign=small", json=by_query)
    assert again.json()["content"] == task["content"]
    listed = call(served, "ada", "GET", "/reading-tasks?campaign=small").json()
    assert task["id"] in {one["id"] for one in listed}
    fetched = call(served, "ada", "GET", f"/reading-tasks/{task['id']}", headers={"Accept": "text/turtle"})
    assert len(rdflib.Graph().parse(data=fetched.content, format="turtle")) > 0
    within = served.call("ada", "GET", f"/tasks/{task['id']}", headers={"Accept": "text/turtle"})
    assert (within.content, within.headers["etag"]) == (fetched.content, fetched.headers["etag"])


@pytest.mark.req("R-23")
def test_answers_are_sent_and_scored_by_the_runs_id_alone(served, task, run):
    lines = [one for one in answers_of("train.ndjson", TRAIN) if one["query"] in task["queries"]]
    taken = call(served, "ada", "POST", f"/runs/{run['id']}/answers?key=a", content=ndjson(lines), headers=LINES)
    assert taken.json()["taken"] == len(lines), taken.text
    again = call(served, "ada", "POST", f"/runs/{run['id']}/answers", content=ndjson(lines),
                 headers=LINES | {"Idempotency-Key": "a"})  # fmt: skip
    assert again.json()["id"] == taken.json()["id"]
    assert call(served, "ada", "GET", f"/runs/{run['id']}").json()["answers"] == len(lines)
    assert call(served, "ada", "GET", "/runs?campaign=small").json()[0]["id"] == run["id"]
    score = call(served, "ada", "GET", f"/runs/{run['id']}/score").json()
    assert score == served.call("ada", "GET", f"/runs/{run['id']}/score").json()
    assert score["level"] == "full"


@pytest.mark.req("R-23", "R-9", "R-25", "R-11")
def test_every_service_of_the_reasoner_has_its_address(served):
    def reasoned(service, **fields):
        answer = call(served, "ada", "POST", f"/dsrs/{service}?campaign=small&package=nfl-scoring", json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    both = [*OVERTIME, ["g1", "numberOfPeriods", "4"]]
    assert reasoned("check", statements=both)["consistent"] is False
    assert ["g1", "numberOfPeriods", "5"] in reasoned("infer", statements=OVERTIME)["derived"]
    assert len(reasoned("contexts", statements=both)["contexts"]) == 2
    assert reasoned("combinations", total=20, at_least={"fg": 1})["worlds"]
    tree = reasoned("explain", statements=OVERTIME, statement="g1 numberOfPeriods 5")["tree"]
    assert (tree["rule"], tree["kind"]) == ("overtime-default", "inferred")
    assert tree["if"][0]["statement"] == OVERTIME[0]
    (clash,) = reasoned("explain", statements=both)["contradictions"]
    assert (clash["rule"], len(clash["inputs"])) == ("overtime-needs-five", 2)


@pytest.mark.req("R-23", case="bad")
@pytest.mark.parametrize(
    ("statement", "words"), [("g1 numberOfPeriods 7", "does not follow"), ("g1", ""), ("?g numberOfPeriods 5", "")]
)
def test_what_cannot_be_explained_is_a_problem_with_a_cure(served, statement, words):
    fields = {"statements": OVERTIME, "statement": statement}
    answer = served.call("ada", "POST", "/dsrs/explain?package=nfl-scoring", json=fields)
    assert answer.status_code == 422, answer.text
    found = answer.json()["problems"][0]
    assert words in found["message"]
    assert found["fix"]


def test_statements_as_rdf_are_explained_by_what_the_address_names(served):
    turtle = b"@prefix n: <https://nfl.example/scoring#> . n:g1 n:hasOvertimePlay true ."
    path = "/dsrs/explain?campaign=small&package=nfl-scoring&statement=g1%20numberOfPeriods%205"
    answer = call(served, "ada", "POST", path, content=turtle, headers={"Content-Type": "text/turtle"})
    assert answer.json()["tree"]["rule"] == "overtime-default"


@pytest.mark.req("X-16")
@pytest.mark.parametrize("who", ["bea", "stranger", "anna", "jude"])
def test_what_is_a_strangers_cannot_be_told_from_what_is_not_there(served, task, run, stranger, who):
    begin = {"label": "x", "key": "x"}
    calls = [
        ("GET", "/reading-tasks/{}", task["id"], {}),
        ("GET", "/runs/{}", run["id"], {}),
        ("GET", "/runs/{}/score", run["id"], {}),
        ("POST", "/runs/{}/answers?key=x", run["id"], {"content": b"", "headers": LINES}),
    ]
    for method, path, known, more in calls:
        there, nowhere = (call(served, who, method, path.format(name), **more) for name in (known, UNKNOWN))
        assert (there.status_code, nowhere.status_code) == (404, 404), path
        assert there.json()["problems"] == nowhere.json()["problems"]
    there, nowhere = (call(served, who, "POST", "/runs", json=begin | {"task": name}) for name in (task["id"], UNKNOWN))
    assert (there.status_code, there.json()["problems"]) == (404, nowhere.json()["problems"])


@pytest.mark.req("P-5")
@pytest.mark.parametrize("who", ["stranger", "anna"])
def test_without_a_part_in_a_campaign_its_services_are_not_there(served, stranger, who):
    calls = [("GET", "/reading-tasks"), ("GET", "/runs"), ("POST", "/dsrs/check"), ("POST", "/reading-tasks")]
    for method, path in calls:
        more = {"json": {}} if method == "POST" else {}
        there, nowhere = (call(served, who, method, f"{path}?campaign={slug}", **more) for slug in ("small", "none"))
        assert (there.status_code, nowhere.status_code) == (404, 404), path
        assert there.json()["problems"] == nowhere.json()["problems"]


@pytest.mark.req("P-5")
def test_visitors_sign_in_first_and_a_call_without_a_campaign_is_told_the_cure(served, task):
    for method, path in (("GET", f"/reading-tasks/{task['id']}"), ("POST", "/dsrs/check?campaign=small")):
        assert call(served, None, method, path).status_code == 401
    answer = call(served, "ada", "POST", "/dsrs/check", json={})
    assert (answer.status_code, answer.json()["problems"][0]["fix"]) == (422, "add ?campaign=SLUG")
