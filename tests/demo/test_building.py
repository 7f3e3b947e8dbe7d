"""The demo is a whole season made by real acts: it stands in one folder, is made once, and never touches another."""

from __future__ import annotations

import json
import shutil
import stat

import pytest
from sqlalchemy import select
from tests.cli.running import here, process

from basanite.campaign.office import Actor
from basanite.campaign.people.persons import by_mail
from basanite.campaign.settings import DEMO_MARK, Settings
from basanite.campaign.store import events
from basanite.campaign.store.tables import (
    AnnotationProject,
    Board,
    Event,
    Message,
    Receipt,
    Reference,
    Result,
    Submission,
)
from basanite.campaign.work.annotation import adjudication, annotator_work
from basanite.demo import build, season
from basanite.errors import SettingError

pytestmark = pytest.mark.timeout(240)  # the first test waits for the season to be made


@pytest.mark.req("P-1")
def test_the_season_has_teams_results_open_windows_and_things_that_wait(built):
    told = built.told
    assert (told["teams"], told["people"]) == (["Alder", "Birch", "Cedar"], 19)
    assert told["submissions"] == {"invalid": 1, "received": 8, "scored": 11}
    levels = ("top", "details", "public")
    assert told["released"] == [
        *(f"week-1: {level}" for level in ("certification", *levels)),
        *(f"captions: {level}" for level in levels),
    ]
    assert (told["appeals"], told["rescored"]) == (["upheld"], ["applied", "applied"])
    assert told["waiting"] == {
        "teams to be led": 1,
        "places in teams": 1,
        "signatures": 1,
        "acts of two": 2,
        "questions": 1,
    }
    assert [one["mail"] for one in told["logins"]][:2] == ["eva@demo.example", "oscar@demo.example"]


def test_everything_happened_in_the_past_in_order_and_the_log_is_whole(built):
    with build.open_demo(built.folder) as office, office.reading() as session:
        rows = session.scalars(select(Submission).order_by(Submission.received)).all()
        moments = list(session.scalars(select(Event.at).order_by(Event.sequence)))
        assert list(events.broken(session)) == []
        assert {row.kind for row in session.scalars(select(Receipt))} == {"intake", "score"}
    assert moments == sorted(moments)
    assert moments[-1] <= built.demo.made
    assert all(row.received <= built.demo.made for row in rows)
    assert {row.task for row in rows} == {"CLIR", "E2E", "DomainID", "LangID", "captions", "reading"}
    windows = {"dev-1", "week-1", "dev-2", "again-1", "week-2", "other-tasks", "captions", "reading"}
    assert {row.window for row in rows} == windows


@pytest.mark.req("P-1")
def test_descriptions_of_images_are_compared_on_a_board_that_is_out(built):
    with build.open_demo(built.folder) as office, office.reading() as session:
        board = session.scalars(select(Board).where(Board.window == "captions", Board.purpose == "board")).first()
        found = json.loads(office.files.read(board.digest))
    assert len(found["systems"]) == 3


@pytest.mark.req("P-1", "R-17")
def test_annotators_have_reports_to_mark_one_adjudication_is_open_and_the_gold_grew_by_a_version(built):
    with build.open_demo(built.folder) as office, office.reading() as session:
        project = session.scalars(select(AnnotationProject)).one().id
        who = {key: by_mail(session, office, f"{key}@demo.example").id for key in ("nora", "aino")}
        mine = [one.state for one in annotator_work.queue(session, project, who["nora"])]
        texts = {one.document: one for one in adjudication.queue(session, office, Actor(who["aino"]), project)}
        truths = session.scalars(select(Reference).where(Reference.task == "reading").order_by(Reference.version))
        states = [row.state for row in truths]
        results = session.scalars(select(Result).join(Submission).where(Submission.task == "reading")).all()
    assert sorted(mine) == ["done", "done", *["waiting"] * 4]
    assert (texts["nfl-103"].stage, texts["nfl-103"].open_cases) == ("begun", 3)
    assert texts["nfl-101"].stage == "done"
    assert states == ["superseded", "active"]
    assert len({row.primary for row in results}) == 2, "the run was scored again, and it matters"


def test_a_demo_that_stands_scores_in_a_box_like_every_server(built):
    with build.open_demo(built.folder) as office:
        assert office.run is None


def test_where_reading_cannot_be_had_it_is_left_out_and_said(monkeypatch):
    said = []
    monkeypatch.setattr(season, "lacking", lambda: "it needs clingo")
    season.read_reports(type("Stage", (), {"say": lambda self, words: said.append(words)})())
    assert said == ["Machine reading is left out: it needs clingo"]


def test_the_invalid_file_has_problems_with_lines(built):
    with build.open_demo(built.folder) as office, office.reading() as session:
        row = session.scalars(select(Submission).where(Submission.state == "invalid")).one()
        found = json.loads(office.files.read(row.problems_digest))["problems"]
    assert {"M22", "M25", "M29"} <= {one["rule"] for one in found}
    assert any(one["line"] == 3 for one in found)


def test_passwords_lie_beside_the_data_for_this_user_alone(built):
    assert stat.S_IMODE((built.folder / DEMO_MARK).stat().st_mode) == 0o600
    with build.open_demo(built.folder) as office, office.reading() as session:
        words = json.dumps([row.data for row in session.scalars(select(Message))])
    assert built.demo.logins[0].password not in words


def test_a_demo_that_is_there_is_not_made_again(built):
    before = (built.folder / DEMO_MARK).read_bytes()
    again = here("demo", "--data", built.folder, "--build-only", "--json")
    assert (again.code, (built.folder / DEMO_MARK).read_bytes()) == (0, before)


@pytest.mark.parametrize("tables", [None, "of another version"])
def test_a_demo_of_another_version_is_not_opened_and_how_to_make_it_anew_is_said(built, tmp_path, tables):
    mark = json.loads((built.folder / DEMO_MARK).read_bytes())
    (tmp_path / "season").mkdir()
    (tmp_path / "season" / DEMO_MARK).write_text(json.dumps(mark | {"tables": tables}))
    refused = here("demo", "--data", tmp_path / "season", "--build-only")
    assert refused.code != 0
    assert "was made by another version of Basanite. Create it again with --reset." in refused.stderr


def test_reset_makes_a_new_one_in_its_place(built, tmp_path, monkeypatch):
    old = tmp_path / "season"
    shutil.copytree(built.folder, old)
    monkeypatch.setattr(season, "play", lambda stage, password: [build.Login("eva", "lead", "eva@x", password)])
    made = build.make(old, lambda words: None, reset=True)
    assert made.logins[0].password != built.demo.logins[0].password
    assert [path.name for path in tmp_path.iterdir()] == ["season"]


@pytest.mark.parametrize("kind", ["files", "file", "link"])
def test_a_place_that_is_not_a_demo_is_left_alone(tmp_path, kind):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("real")
    place = tmp_path / {"files": "real", "file": "file", "link": "link"}[kind]
    for reset in (False, True):
        with pytest.raises(SettingError, match="--data"):
            build.make(place, lambda words: None, reset=reset)
    assert (tmp_path / "real" / "mine.txt").read_text() == "mine"


def test_an_interrupted_demo_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(stage, password):
        raise KeyboardInterrupt

    monkeypatch.setattr(season, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build.make(tmp_path / "season", lambda words: None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("X-15", case="bad")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_a_demo_is_never_served_to_other_machines_whoever_opens_it(built, tmp_path, host):
    ended = process("serve", "--data", built.folder, "--host", host, "--check", cwd=tmp_path)
    assert (ended.code, "its passwords are known" in ended.stderr) == (2, True)


@pytest.mark.req("X-15", case="good")
def test_on_this_machine_it_may_be_served(built, tmp_path):
    assert process("serve", "--data", built.folder, "--check", cwd=tmp_path).code == 0


@pytest.mark.req("X-15")
def test_the_folder_makes_the_demo_and_no_setting_unmakes_it(built, tmp_path):
    assert Settings(data=built.folder, demo=False).demo
    assert not Settings(data=tmp_path).demo
