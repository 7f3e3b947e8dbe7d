"""The drop folder: the folder says who, nothing in it is trusted, and the time is when it was first seen (X-12)."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from sqlalchemy import select
from tests.offices.prepared import small_season
from tests.server.conftest import add_reference, fresh_office
from tests.server.doors.test_hostile_uploads import HOSTILE

from basanite.campaign.intake.drop_folder import look
from basanite.campaign.jobs.worker import running, until_idle
from basanite.campaign.office import Office
from basanite.campaign.store.tables import Charge, Dropped, Submission
from basanite.testing import small_campaign_text

NAME = "Alpha_CLIR-contrastive-unconstrained-QUERY1-{label}_BASE-1A-DEV_20180115_120000.tgz"


@pytest.fixture
def office(tmp_path, clock):
    made = fresh_office(tmp_path, clock, drop=tmp_path / "drop")
    yield made
    made.close()


@pytest.fixture
def small(office):
    return small_season(office)


@pytest.fixture
def folder(office, small):
    """The folder of the team Alpha."""
    made = office.settings.drop / "Alpha"
    made.mkdir(parents=True)
    return made


def dropped(folder, pack, label="alpha", name=NAME):
    """Put a file there as it should be done: under another name first."""
    path = folder / name.format(label=label)
    part = path.with_name(f"{path.name}.part")
    shutil.copyfile(pack.perfect, part)
    part.rename(path)
    return path


def submissions(office):
    with office.reading() as session:
        return session.scalars(select(Submission).order_by(Submission.received)).all()


def answer(path, kind):
    return json.loads((path.parent / "answers" / f"{path.name}.{kind}.json").read_text())


def test_a_dropped_file_becomes_a_submission_and_its_receipt_is_put_beside_it(office, folder, small, pack):
    path = dropped(folder, pack)
    assert look(office) == 1
    (row,) = submissions(office)
    assert (row.team_id, row.door, row.label, row.person_id) == (small.alpha, "drop", "alpha", small.ada)
    assert answer(path, "receipt")["content"]["submission"]["id"] == row.id
    assert look(office) == 0


def test_a_file_that_is_still_written_is_left_alone(office, folder, pack):
    shutil.copyfile(pack.perfect, folder / (NAME.format(label="a") + ".part"))
    (folder / ".hidden.tgz").write_bytes(b"x")
    assert (look(office), submissions(office)) == (0, [])


def test_its_time_is_when_it_was_first_seen_whatever_happens_later(office, folder, pack, clock, small):
    path = dropped(folder, pack)
    clock.set("2018-04-01 03:59:59")
    with office.writing() as session:
        found = path.stat()
        identity = f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"
        session.add(Dropped(team_id=small.alpha, name=path.name, identity=identity, seen=clock()))
    clock.set("2018-04-01 04:10")
    again = Office.open(office.settings, clock)
    assert look(again) == 1
    (row,) = submissions(office)
    assert (row.started.isoformat(), row.standing) == ("2018-04-01T03:59:59+00:00", "on time")
    again.close()


def test_a_changed_time_of_the_file_makes_nothing_earlier(office, folder, pack, clock):
    clock.set("2018-04-01 04:00")
    path = dropped(folder, pack)
    os.utime(path, (0, 0))
    assert look(office) == 0
    assert answer(path, "problems")["problems"][-1]["rule"] == "M62"


def test_the_folder_and_not_the_name_says_who(office, folder, pack):
    path = dropped(folder, pack, name=NAME.replace("Alpha", "Beta"))
    assert look(office) == 0
    assert answer(path, "problems")["problems"][0]["rule"] == "M58"


def test_what_is_refused_is_not_kept(office, folder, pack):
    dropped(folder, pack, name=NAME.replace("Alpha", "Beta"))
    dropped(folder, pack, name=NAME.replace("DEV", "EVAL1"))
    assert look(office) == 0
    assert list(office.files.digests()) == []
    assert list((office.settings.data / "uploads").iterdir()) == []


def test_links_folders_and_other_odd_things_are_not_read(office, folder, pack, tmp_path):
    secret = tmp_path / "secret"
    shutil.copyfile(pack.perfect, secret)
    link = folder / NAME.format(label="link")
    link.symlink_to(secret)
    hard = folder / NAME.format(label="hard")
    os.link(secret, hard)
    os.mkfifo(folder / NAME.format(label="pipe"))
    (folder / NAME.format(label="folder")).mkdir()
    assert (look(office), submissions(office)) == (0, [])
    for label in ("link", "hard", "pipe", "folder"):
        assert answer(folder / NAME.format(label=label), "problems")["problems"][0]["rule"] == "X-12"


def test_a_folder_of_a_team_that_is_a_link_is_not_entered(office, small, pack, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    dropped(elsewhere, pack)
    office.settings.drop.mkdir()
    (office.settings.drop / "Alpha").symlink_to(elsewhere)
    (office.settings.drop / "Nobody").mkdir()
    assert (look(office), list(elsewhere.glob("answers/*"))) == (0, [])


def test_answers_are_never_written_through_a_link(office, folder, pack, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (folder / "answers").symlink_to(elsewhere)
    dropped(folder, pack)
    assert (look(office), list(elsewhere.iterdir())) == (1, [])


def test_a_name_that_says_too_little_is_answered_with_what_to_do(office, folder, pack):
    path = dropped(folder, pack, name="alpha.tgz")
    assert look(office) == 0
    assert "full name" in answer(path, "problems")["problems"][0]["fix"]


@pytest.fixture
def others(office):
    """The folder of a team in a campaign whose window takes a task that has no names of its own."""
    text = small_campaign_text().replace('tasks = ["CLIR"]', 'tasks = ["CLIR", "classification"]', 1)
    small_season(office, text)
    made = office.settings.drop / "Alpha" / "dev" / "classification"
    made.mkdir(parents=True)
    return made


@pytest.mark.parametrize("name", ["Alpha.csv", "run7.pred.jsonl.gz", "Beta"])
def test_folders_name_window_and_task_and_the_file_keeps_its_own_name(office, others, name):
    part = others / f"{name}.part"
    part.write_text("id,label\n1,yes\n")
    assert look(office) == 0
    part.rename(others / name)
    assert look(office) == 1
    (row,) = submissions(office)
    label = name.partition(".")[0]
    assert (row.name, row.label, row.window, row.task, row.type) == (
        name,
        label,
        "dev",
        "classification",
        "contrastive",
    )
    assert answer(others / name, "receipt")["content"]["submission"]["id"] == row.id
    assert ((others / name).is_file(), look(office)) == (True, 0)


MISPLACED = {
    "Stray.csv": "WINDOW/TASK/LABEL.ENDING, where WINDOW is dev or week; archives of CLIR",
    "Stray.tgz": "use the full name of an archive",
    "dev/Alpha.csv": "dev/TASK/LABEL.ENDING, where TASK is classification",
    "later/classification/Alpha.csv": "WINDOW is dev or week",
    "dev/CLIR/Alpha.tgz": "archives of CLIR, E2E, DomainID, LangID belong in the team's folder",
    "week/classification/Alpha.csv": "archives of CLIR",
    "dev/classification/two words.csv": "letters and digits",
    "dev/classification/Alpha.\ncsv": "control character",
    "dev/classification/Alpha.csv/inner.csv": "not a link, folder or device",
}


def test_a_file_at_the_wrong_place_or_with_a_bad_name_is_told_where_it_belongs_and_stops_nobody(office, others):
    team = others.parents[1]
    for way in MISPLACED:
        (team / way).parent.mkdir(parents=True, exist_ok=True)
        (team / way).write_text("id,label\n1,yes\n")
    (others / "link.csv").symlink_to("/etc/hostname")
    (others / "Alpha.csv").rename(others / "folder.csv")
    (others / "good.csv").write_text("id,label\n1,yes\n")
    (others / os.fsdecode(b"broken\xff.csv")).write_text("id,label\n1,yes\n")
    assert look(office) == 1
    assert [row.name for row in submissions(office)] == ["good.csv"]
    told = {path.name: path.read_text() for path in team.rglob("*.problems.json")}
    for words in MISPLACED.values():
        assert any(words in text for text in told.values()), (words, told)
    assert len(told) == 11
    assert look(office) == 0


@pytest.mark.req("X-30")
def test_a_name_that_is_no_utf_8_is_told_and_the_files_of_later_teams_are_taken(
    office, folder, pack, client, everybody
):
    (folder / os.fsdecode(b"broken\xff.tgz")).write_bytes(b"no archive")
    later = office.settings.drop / "Beta"
    later.mkdir()
    dropped(later, pack, name=NAME.replace("Alpha", "Beta", 1))
    look(office)
    address = "/api/v1/campaigns/small/submissions"
    shown = [client.get(address, headers=everybody.headers(role)).json()["submissions"] for role in ("pi", "rival")]
    assert [len(rows) for rows in shown] == [0, 1]
    (told,) = folder.rglob("*.problems.json")
    assert "broken" in told.name


@pytest.mark.parametrize("name", ["Stray.csv", "Stray.tgz", "stray run.tgz"])
def test_without_detection_tasks_nobody_is_told_to_name_an_archive(office, name):
    small_season(office, small_campaign_text().replace('tasks = ["CLIR"]', 'tasks = ["classification"]'))
    team = office.settings.drop / "Alpha"
    team.mkdir(parents=True)
    (team / name).write_text("id,label\n1,yes\n")
    assert look(office) == 0
    (problem,) = answer(team / name, "problems")["problems"]
    assert (problem["rule"], problem["fix"]) == (
        "X-12",
        "put the file at WINDOW/TASK/LABEL.ENDING, where WINDOW is dev or week",
    )


def test_the_count_is_the_same_whatever_the_door(office, folder, pack, small):
    for number in range(4):
        dropped(folder, pack, label=f"run{number}")
    assert look(office) == 3
    assert answer(folder / NAME.format(label="run3"), "problems")["problems"][0]["rule"] == "M64"
    with office.reading() as session:
        assert sorted(session.scalars(select(Charge.state))) == ["reserved"] * 3


@pytest.mark.slow
def test_hostile_archives_end_as_invalid_and_the_problems_are_put_beside_them(office, pack):
    small = small_season(office, small_campaign_text(quota=len(HOSTILE)))
    add_reference(office, small, pack, "DEV")
    folder = office.settings.drop / "Alpha"
    folder.mkdir(parents=True)
    paths = {name: folder / NAME.format(label=name.replace("-", "")) for name in HOSTILE}
    for name, path in paths.items():
        path.write_bytes(HOSTILE[name])
    assert look(office) == len(HOSTILE)
    with running(office, ()):
        assert until_idle(office, 200) == 0
    look(office)
    assert {row.state for row in submissions(office)} == {"invalid"}
    assert all(answer(path, "problems")["valid"] is False for path in paths.values())
