"""The schema is changed under load: processes of the old and of the new version work side by side."""

import subprocess
import sys
import threading
import time

import pytest
from sqlalchemy import text
from tests.faults.versions import NEWER, newer_migrations, serve_newer, work_newer
from tests.offices.machines import all_ended, free_port, judge, serve, states, wait_until, work
from tests.offices.submitting import plan_load, submit, submit_all

from basanite.campaign.store import schema
from basanite.campaign.store.tables import Worker

COUNT = 12

BASES = [
    pytest.param("sqlite", id="sqlite", marks=pytest.mark.fault("schema changed under load, SQLite")),
    pytest.param(
        "postgresql",
        id="postgresql",
        marks=[pytest.mark.fault("schema changed under load, PostgreSQL"), pytest.mark.store, pytest.mark.slow],
    ),
]


def address(name, request):
    if name == "sqlite":
        return None
    return request.getfixturevalue("server").fresh(request.getfixturevalue("template"))


@pytest.mark.slow
@pytest.mark.req("P-8", "P-14")
@pytest.mark.timeout(400)
@pytest.mark.parametrize("base", BASES)
def test_old_and_new_versions_work_side_by_side_on_the_newer_schema(base, place, pack, fault, request, tmp_path):
    office, teams, machines = place(url=address(base, request), teams=4)
    folder, ports, files = (
        newer_migrations(tmp_path / "newer"),
        (free_port(), free_port()),
        (pack.perfect, pack.invalid),
    )
    for number in range(COUNT // 2):
        submit(office, teams.members[number % 4], files[number % 2])
    machines.start("old server", serve, office.settings, ports[0])
    machines.start("old worker", work, office.settings)
    old = plan_load(office, f"http://127.0.0.1:{ports[0]}", teams, files, count=COUNT - 4, pause=0.2)
    new = plan_load(office, f"http://127.0.0.1:{ports[1]}", teams, files, count=COUNT, pause=0.2)
    machines.start("old submitter", submit_all, old, 1)
    assert wait_until(lambda: {"validating", "scoring"} & set(states(office)), 60, 0.02), machines.logs()
    began = time.monotonic()
    machines.start("new worker", work_newer, office.settings, str(folder))
    machines.start("new server", serve_newer, office.settings, ports[1], str(folder))
    assert wait_until(lambda: schema.version(office.database) == NEWER, 60, 0.05), machines.logs()
    changed = time.monotonic() - began
    under_way = COUNT - sum(states(office)[end] for end in ("scored", "invalid"))
    machines.start("new submitter", submit_all, new, 2)
    assert wait_until(lambda: nobody_submits(machines) and all_ended(office), 240), machines.logs()
    seconds = time.monotonic() - began
    judgement = judge(office)
    assert all(process.is_alive() for name, process in machines.processes.items() if "submitter" not in name)
    fault(
        done="web and worker at work; web and worker of a newer version started, which added columns and a table",
        became=f"changed in {changed:.1f} s with {under_way} under way; old and new went on side by side; "
        f"{judgement.words}",
        seconds=seconds,
    )
    assert judgement.wrong == ()
    assert not judgement.states["failed"]
    assert under_way > 0
    assert shelves(office) == {None: 1, "new": 1}
    machines.stop_all()
    refused_in_words(office)


def nobody_submits(machines):
    """Whether those who submit have come to their end, and so all submissions are there."""
    return not any(process.is_alive() for name, process in machines.processes.items() if "submitter" in name)


def shelves(office):
    """How many workers wrote what into the column that only the newer version knows."""
    with office.reading() as session:
        return dict(session.execute(text(f"SELECT shelf, count(*) FROM {Worker.__tablename__} GROUP BY shelf")).all())


def refused_in_words(office):
    """An old process that starts again now is told why it cannot."""
    command = [sys.executable, "-m", "basanite", "worker", "--data", str(office.settings.data)]
    environment = {"BASANITE_DATABASE": office.settings.database} if office.settings.database else {}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert ended.returncode == 2, ended.stderr
    assert "Update Basanite" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("schema changed while a table is held")
def test_a_change_that_must_wait_for_a_table_lets_others_on(place, fault, server, template, tmp_path, monkeypatch):
    """Somebody reads for long: on PostgreSQL anyone who waits to change a table stops all who come after him."""
    office, _, _ = place(url=server.fresh(template), teams=1)
    monkeypatch.setattr(schema, "FOLDER", newer_migrations(tmp_path / "newer"))
    waits = []
    with office.reading() as reader:
        reader.execute(text("SELECT count(*) FROM workers")).all()
        changing = threading.Thread(target=schema.upgrade, args=(office.database,))
        changing.start()
        while sum(waits) < 2 * (schema.TABLE_SECONDS + schema.PAUSE_SECONDS):
            began = time.monotonic()
            with office.reading() as session:
                session.execute(text("SELECT count(*) FROM workers")).all()
            time.sleep(0.1)
            waits.append(time.monotonic() - began)
        assert changing.is_alive()
    free = time.monotonic()
    changing.join(60)
    seconds = time.monotonic() - free
    assert schema.version(office.database) == NEWER
    assert max(waits) < schema.TABLE_SECONDS + 3
    assert len(waits) > 5
    fault(
        done="PostgreSQL: a transaction that had read a table stayed open while the schema was to be changed",
        became=f"others waited {schema.TABLE_SECONDS} s at most, again and again; then it was changed",
        seconds=seconds,
    )
