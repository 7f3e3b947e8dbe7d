"""Boards compare primary runs alone, say who is left out and why, and call nobody by a name they should not."""

import json
import tarfile
from dataclasses import replace

import pytest
from tests.campaign.staging import Stage, staged

from basanite.campaign.actions import plans, releases
from basanite.campaign.intake import standings
from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.people.roles import viewer
from basanite.campaign.results import boards, visibility
from basanite.campaign.results.boards import OPEN_QUERIES
from basanite.campaign.store.tables import Board, Team
from basanite.synthetic.clir import write_members
from basanite.testing import season, small_campaign_text

EVALUATION = Viewer(roles=frozenset({"evaluation"}))


def board(stage, who, window="week", task="CLIR", **where):
    season = stage.season
    with stage.office.reading() as session:
        seen = who if isinstance(who, Viewer) else viewer(session, season.campaign_id, getattr(season, who))
        names = {"language": "1A", **where}
        return visibility.board(session, stage.office, seen, season.campaign_id, boards.Subject(window, task, **names))


def release(stage, *levels, window="week"):
    for level in levels:
        stage.do(releases.release, stage.season.as_eva, stage.season.campaign_id, releases.LevelRelease(window, level))
        if level == "certification":
            stage.clock.forward(days=7)


@pytest.fixture
def over(stage):
    """The evaluation week is over: Alpha's perfect run and Beta's silent one, each primary, and a contrastive one."""
    stage.submit("alpha", "perfect", label="look", kind="contrastive")
    stage.clock.set("2018-04-03 12:00")
    stage.submit("alpha", "perfect")
    stage.submit("beta", "silent")
    stage.submit("beta", "perfect", label="better", kind="contrastive")
    stage.clock.set("2018-04-09 06:00")
    return stage


def test_primary_runs_alone_are_compared_with_groups_rank_ranges_and_intervals(over):
    release(over, "certification", "top")
    assert board(over, "bea").pending
    assert over.compare_all() == 1
    assert over.compare_all() == 0
    shown = board(over, "bea")
    assert [(row.name, row.value, row.own) for row in shown.rows] == [("Alpha", 1.0, False), ("Beta", 0.0, True)]
    assert all(row.ranks is not None and row.group is not None for row in shown.rows)
    assert (shown.metric, shown.pending, shown.left_out) == ("aqwv", False, {})
    assert shown.provenance.reference_version == 1
    assert shown.rows[0].submission_id is None


@pytest.mark.sqlite("it looks at the file on this machine")
def test_a_board_reads_ranks_alone_and_no_pairs_which_grow_with_the_square_of_the_teams(over):
    release(over, "certification", "top")
    over.compare_all()
    with over.office.reading() as session:
        stored = session.query(Board).one()
        whole = over.office.files.path(stored.digest)
    compared = json.loads(whole.read_bytes())
    assert set(stored.ranking) == {"rank_ranges", "groups", "detectable", "better"}
    assert {name: stored.ranking[name] for name in ("rank_ranges", "groups")} == {
        name: compared[name] for name in ("rank_ranges", "groups")
    }
    before = board(over, "bea").rows
    whole.unlink()
    assert board(over, "bea").rows == before


def test_who_is_left_out_is_counted_with_the_reason(over):
    release(over, "certification", "top")
    beta = board(over, EVALUATION).rows[1].submission_id
    over.do(standings.withdraw, over.season.as_bea, beta, reason="a bug")
    shown = board(over, "ada")
    assert [row.name for row in shown.rows] == ["Alpha"]
    assert shown.left_out == {"withdrawn": 1}
    assert shown.rows[0].ranks == (1, 1)


def test_a_late_run_is_outside_ranks_until_it_is_admitted_with_a_reason(stage):
    with stage.office.writing() as session:
        text = plans.newest_version(session, stage.season.campaign_id).text
        late = text.replace('certification = "7 days"', 'certification = "0 min"\nlate_grace = "2 days"')
        plans.change_plan(session, stage.office, stage.season.as_eva, "small", late, reason="a storm")
    stage.clock.set("2018-04-09 12:00")
    run = stage.submit("alpha", "perfect")
    stage.clock.set("2018-04-12 12:00")
    release(stage, "top")
    before = board(stage, "bea")
    assert (before.rows, before.left_out) == ((), {"late": 1})
    stage.do(standings.admit_late, stage.season.as_eva, run, reason="the storm")
    after = board(stage, "bea")
    assert [(row.name, row.note) for row in after.rows] == [("Alpha", "late, admitted")]


def test_a_team_without_a_primary_is_not_compared_until_an_organiser_designates_one(stage):
    stage.clock.set("2018-04-03 12:00")
    run = stage.submit("alpha", "perfect", kind="contrastive")
    stage.clock.set("2018-04-09 06:00")
    release(stage, "certification", "top")
    before = board(stage, "ada")
    assert (before.rows, before.left_out) == ((), {"no primary": 1})
    stage.do(standings.designate_primary, stage.season.as_eva, run, reason="they forgot")
    assert [row.name for row in board(stage, "bea").rows] == ["Alpha"]


@pytest.mark.parametrize(
    ("naming", "teams", "public"),
    [("named", ["Alpha", "Beta"], "pseudonym"), ("pseudonym", "pseudonym", "pseudonym"), ("own", ["Beta"], [])],
)
def test_names_on_boards_follow_the_window_and_in_public_the_pis_consent(
    sqlite_office, clock, pack, naming, teams, public
):
    stage = staged(sqlite_office, clock, pack)
    with stage.office.writing() as session:
        text = plans.newest_version(session, stage.season.campaign_id).text
        text = text.replace('certification = "7 days"', f'certification = "0 min"\nnaming = "{naming}"')
        plans.change_plan(session, stage.office, stage.season.as_eva, "small", text, reason="names")
        pseudonyms = {team.name: team.pseudonym for team in session.query(Team)}
    clock.set("2018-04-03 12:00")
    stage.submit("alpha", "perfect")
    stage.submit("beta", "silent")
    clock.set("2018-04-09 06:00")
    release(stage, "top", "public")
    seen = sorted(row.name for row in board(stage, "bea").rows)
    outside = sorted(row.name for row in board(stage, VISITOR).rows)
    assert seen == (sorted([pseudonyms["Alpha"], "Beta"]) if teams == "pseudonym" else teams)
    assert outside == (sorted(pseudonyms.values()) if public == "pseudonym" else public)


def test_a_board_prints_how_many_looks_each_team_had_on_its_data(stage):
    for label in ("one", "two"):
        stage.submit("alpha", "perfect", label=label, kind="contrastive")
    stage.submit("alpha", "perfect", label="three")
    stage.submit("beta", "silent")
    stage.clock.set("2018-04-09 06:00")
    release(stage, "top", window="dev")
    assert {row.name: row.looks for row in board(stage, "ada", "dev").rows} == {"Alpha": 3, "Beta": 1}


def test_on_a_ladder_a_team_sees_one_number_that_moves_only_by_a_step(sqlite_office, clock, pack):
    stage = staged(sqlite_office, clock, pack)
    with stage.office.writing() as session:
        text = plans.newest_version(session, stage.season.campaign_id).text
        text = text.replace('kind = "development"', 'kind = "development"\nladder = 2.0')
        plans.change_plan(session, stage.office, stage.season.as_eva, "small", text, reason="a ladder")
    runs = [stage.submit("alpha", "silent", label="one", kind="contrastive")]
    runs.append(stage.submit("alpha", "silent", label="two", kind="contrastive"))
    clock.forward(minutes=1)
    with stage.office.reading() as session:
        ada = viewer(session, stage.season.campaign_id, stage.season.ada)
        first, waiting = (visibility.result(session, stage.office, ada, run) for run in runs)
    assert (first.level, set(first.data["values"]["aqwv"])) == ("ladder", {"value", "step"})
    assert waiting.data["values"] == first.data["values"]
    assert (first.key, first.at, "breakdowns" in first.data) == ("", None, False)
    assert stage.compare_all() == 1
    with stage.office.reading() as session:
        again = visibility.result(session, stage.office, ada, runs[1])
    assert again.data["values"] == first.data["values"]


def test_a_baseline_is_on_the_board_marked_and_outside_of_ranks_groups_and_tests(over):
    release(over, "certification", "top")
    better = board(over, EVALUATION).rows[1].submission_id
    over.do(standings.mark_baseline, over.season.as_eva, better, reason="the organisers' own")
    assert over.compare_all() == 0, "one run is left to be compared"
    shown = board(over, "ada")
    assert [(row.name, row.baseline, row.ranks, row.group) for row in shown.rows] == [
        ("Alpha", False, (1, 1), 1),
        ("Beta", True, None, None),
    ]
    assert shown.rows[1].value == 0.0
    assert not shown.pending


def test_a_final_value_is_over_the_closed_queries_alone(sqlite_office, clock, pack, tmp_path):
    more = '[[querysets]]\nid = "QUERY2"\nreleased = "2018-03-01 00:00"\n'
    text = small_campaign_text(more=more).replace('released = "2017-11-20 00:00"\n\n[[windows]]', OPEN_ONE)
    before, week = text.split('id = "week"')
    text = before + 'id = "week"' + week.replace('["QUERY1"]', '["QUERY1", "QUERY2"]').replace('"7 days"', '"0 min"')
    stage = Stage(sqlite_office, season(sqlite_office, text), clock, half_silent(pack, tmp_path))
    clock.set("2018-04-03 12:00")
    stage.add_reference("EVAL1", queryset="QUERY1QUERY2", open_queries=tmp_path / "open.txt")
    stage.submit("alpha", "perfect")
    stage.submit("beta", "silent")
    clock.set("2018-04-09 06:00")
    release(stage, "top")
    assert board(stage, "bea").pending
    assert stage.compare_all() == 1
    shown = board(stage, "bea")
    assert (shown.notes, shown.pending) == ((OPEN_QUERIES,), False)
    assert [(row.name, row.value, row.ranks is None, row.group is None) for row in shown.rows] == [
        ("Alpha", 1.0, False, False),
        ("Beta", 0.0, False, False),
    ]
    with stage.office.reading() as session:
        runs = visibility.submissions(session, stage.office, EVALUATION, stage.season.campaign_id)
        found = json.loads(stage.office.files.read(session.query(Board).one().digest))
    assert max(run.result.value for run in runs) < 1.0
    assert {values["aqwv"]["value"] for values in found["values"].values()} == {1.0, 0.0}, "over the closed ones"


OPEN_ONE = 'released = "2017-11-20 00:00"\nopen = true\n\n[[windows]]'


def half_silent(pack, folder):
    """The pack with a run that is perfect on all queries but one, which is open."""
    names = sorted(path.name for path in pack.key.iterdir())
    chosen = next(name for name in names if "\tY" in (pack.key / name).read_text())
    (folder / "open.txt").write_text(chosen.removesuffix(".tsv") + "\n")
    for archive, part in ((pack.silent, [chosen]), (pack.perfect, {*names} - {chosen})):
        with tarfile.open(archive) as tar:
            tar.extractall(
                folder / "run", members=[one for one in tar if one.name.split("/")[-1] in part], filter="data"
            )
    members = [(name, next((folder / "run").rglob(name)).read_bytes()) for name in names]
    write_members(members, folder / "half.tgz")
    return replace(pack, perfect=folder / "half.tgz")
