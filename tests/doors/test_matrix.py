"""Every scored task through every door: the shipped example reaches `scored`, with the values it has at home (D-2).

All files are sent first, then each cell of the matrix is looked at; the table is printed at the end of the run. In
`make test` each task enters by one door, in turn, so that every door has several tasks; in `make test-all` by all of
them. What comes first for a task is scored in a box, by a new interpreter: for a
few of the tasks in `make test`, for all of them in `make test-all`. The rest is scored by the same program in a process
that has everything loaded.
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
from tests.offices import engines
from tools.few_cases import spread

from basanite import registry
from basanite.demo.warm import warm
from basanite.sandbox.child import ORDER
from basanite.sandbox.runner import capability, run_boxed, run_open
from basanite.server.telemetry import start_logging

DOORS = {
    "one piece": all_tasks.send_in_one_piece,
    "page": None,
    "resumable": all_tasks.send_in_pieces,
    "command": all_tasks.send_by_command,
    "drop folder": all_tasks.send_by_drop_folder,
}
BOXED = 2
"""Tasks whose first child starts in a box in `make test`: a new interpreter takes two seconds of a core for each."""


def cells():
    """Every task and door, those that `make test` leaves out marked `slow`."""
    for number, task in enumerate(BY_TASK):
        for at, door in enumerate(DOORS):
            marks = [pytest.mark.browser] * (door == "page") + [pytest.mark.slow] * (number % len(DOORS) != at)
            yield pytest.param(task, door, marks=marks, id=f"{door}-{task}")


pytestmark = pytest.mark.timeout(2400)


class BoxedOnce:
    """Runs the first child of each of these tasks in a box, where one can be made; others without starting Python."""

    def __init__(self, warmed, boxed):
        self.warmed, self.boxed = warmed, set(boxed)

    def __call__(self, box, *, environment=None):
        task = json.loads((box.given / ORDER).read_bytes())["task"]
        first, self.boxed = task in self.boxed, self.boxed - {task}
        run = (run_boxed if capability().possible else run_open) if first else self.warmed
        return run(box, environment=environment)


@pytest.fixture(scope="module")
def server(tmp_path_factory, request):
    """The server, whose log does not mix with what commands print."""
    folder, before = tmp_path_factory.mktemp("doors"), structlog.get_config()
    start_logging(io.StringIO())
    boxed = spread(sorted(BY_TASK), BOXED) if "not slow" in request.config.option.markexpr else BY_TASK
    with warm(2) as warmed, all_tasks.serving(folder, run=BoxedOnce(warmed, boxed)) as made:
        yield made
    structlog.configure(**before)
    if engines.chosen():
        engines.leave(folder)


@pytest.fixture(scope="module")
def sent(server, request):
    """Send every example through every door and wait for the end; gives submissions by cell, and what was refused."""
    items = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    wanted = {(given["task"], given.get("door", "one piece")) for given in (item.callspec.params for item in items)}
    senders = dict(DOORS)
    if any(door == "page" for _, door in wanted):
        tab = all_tasks.signed_in(request.getfixturevalue("chrome"), server)
        senders["page"] = partial(all_tasks.send_by_page, tab)
    refused = {}
    for task, door in sorted(wanted):
        try:
            senders[door](server, task, BY_TASK[task].path(task, BY_TASK[task].submission))
        except Exception as error:  # noqa: BLE001 - one cell must not hide the others
            refused[task, door] = str(error)
    return server.finished(len(wanted) - len(refused)), refused


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
@pytest.mark.parametrize(("task", "door"), [*cells()])
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
@pytest.mark.parametrize(
    "task",
    [pytest.param(task, marks=[pytest.mark.slow] * (number % len(DOORS) != 0)) for number, task in enumerate(BY_TASK)],
)
def test_the_name_that_a_file_was_sent_under_is_kept(sent, task):
    shown = sent[0][task, "one piece"]
    full = BY_TASK[task].calendar
    assert shown["name"].endswith(".tgz") if full else shown["name"] == BY_TASK[task].submission.rpartition("/")[2]
