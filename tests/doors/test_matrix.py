"""Every scored task through every door: the shipped example reaches `scored`, with the values it has at home (D-2).

All files are sent first, then each cell of the matrix is looked at; the table is printed at the end of the run.
"""

from __future__ import annotations

import io
import json
from functools import partial

import pytest
import structlog
from tests.cli.running import here
from tests.doors import all_tasks
from tests.doors.examples import BY_TASK

from basanite import registry
from basanite.server.observing import start_logging
from basanite.testing import engines

DOORS = {
    "page": None,
    "one piece": all_tasks.send_in_one_piece,
    "resumable": all_tasks.send_in_pieces,
    "command": all_tasks.send_by_command,
    "drop folder": all_tasks.send_by_drop_folder,
}
DOOR_MARKS = {"page": [pytest.mark.browser]}
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The server, whose log does not mix with what commands print."""
    folder, before = tmp_path_factory.mktemp("doors"), structlog.get_config()
    start_logging(io.StringIO())
    with all_tasks.serving(folder) as made:
        yield made
    structlog.configure(**before)
    if engines.chosen():
        engines.leave(folder)


@pytest.fixture(scope="module")
def sent(server, request):
    """Send every example through every door and wait for the end; gives submissions by cell, and what was refused."""
    wanted = {item.callspec.params["door"] for item in request.session.items if "door" in _params(item)}
    senders = {door: send for door, send in DOORS.items() if door in wanted}
    if "page" in wanted:
        tab = all_tasks.signed_in(request.getfixturevalue("chrome"), server)
        senders["page"] = partial(all_tasks.send_by_page, tab)
    refused = {}
    for task, example in BY_TASK.items():
        path = example.path(task, example.submission)
        for door, send in senders.items():
            try:
                send(server, task, path)
            except Exception as error:  # noqa: BLE001 - one cell must not hide the others
                refused[task, door] = str(error)
    return server.finished(len(BY_TASK) * len(senders) - len(refused)), refused


def _params(item):
    return getattr(getattr(item, "callspec", None), "params", {})


@pytest.fixture(scope="module")
def at_home():
    """The values of each example as `basanite score --json` prints them."""
    known = {}

    def values(task):
        if task not in known:
            ended = here("score", task, *BY_TASK[task].home(task))
            assert ended.code == 0, ended.stderr
            known[task] = ended.data["values"]
        return known[task]

    return values


def test_every_registered_task_is_in_the_matrix():
    assert sorted(BY_TASK) == sorted(registry.names("tasks"))


@pytest.mark.req("D-2")
@pytest.mark.parametrize("task", BY_TASK)
@pytest.mark.parametrize("door", [pytest.param(door, marks=DOOR_MARKS.get(door, [])) for door in DOORS])
def test_the_example_is_scored_as_at_home(sent, at_home, door, task, record_property):
    found, refused = sent
    assert (task, door) not in refused, refused[task, door]
    assert (task, door) in found, "nothing came in"
    shown = found[task, door]
    record_property("door", [task, door, shown["state"]])
    assert shown["state"] == "scored", (shown["fault"], shown["problems"])
    values = json.dumps(shown["result"]["data"]["values"], sort_keys=True)
    assert values == json.dumps(at_home(task), sort_keys=True)


@pytest.mark.req("D-3")
@pytest.mark.parametrize("task", BY_TASK)
def test_the_name_that_a_file_was_sent_under_is_kept(sent, task):
    shown = sent[0][task, "one piece"]
    full = BY_TASK[task].calendar
    assert shown["name"].endswith(".tgz") if full else shown["name"] == BY_TASK[task].submission.rpartition("/")[2]
