"""What becomes of a program: answers that are scored, or a fault that is somebody's."""

import pytest
from sqlalchemy import select
from tests.campaign.programs.conftest import ITEMS, PYTHON_RUN, SHELL_RUN, archive

from basanite.campaign.archive.backup import back_up
from basanite.campaign.jobs import stages
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.programs import compute, run
from basanite.campaign.programs.run import bring_on, pass_on_due
from basanite.campaign.results import visibility
from basanite.campaign.sealing import Lock
from basanite.campaign.store.tables import Charge, ProgramRun, Result, Submission
from basanite.programs.sandbox_runner import RUNNER


def process(stage, submission_id):
    """All stages, as the jobs run them."""
    state = bring_on(stage.office, submission_id)
    if state == "running":
        stage.office.clock.forward(minutes=2)
        pass_on_due(stage.office)
        checked = stages.validate(stage.office, submission_id)
        state = checked["state"]
        if state == "scoring":
            return stages.score(stage.office, submission_id, checked["result"])
    return state


def rows(office, submission_id):
    with office.reading() as session:
        run = session.get(ProgramRun, submission_id)
        row = session.get_one(Submission, submission_id)
        cost = session.scalars(select(Charge).where(Charge.submission_id == submission_id)).one()
        return row, run, cost


def test_programs_in_two_languages_are_run_and_their_answers_scored_as_if_uploaded(stage):
    on = stage()
    for text in (SHELL_RUN, PYTHON_RUN):
        one = on.program(text)
        assert process(on, one) == "scored"
        row, ran, cost = rows(on.office, one)
        assert (ran.stage, ran.done, ran.items, ran.checked, ran.differing) == ("answered", 6, 6, 3, 0)
        assert cost.state == "charged"
        assert ran.compute > 0
        answers = on.office.sealed.read(row.answers).decode()
        assert answers.splitlines() == [
            "id\tlabel",
            *[f"i{n}\t{w}" for n, w in enumerate(("red", "green", "blue") * 2, 1)],
        ]
        with on.office.reading() as session:
            result = session.scalars(select(Result).where(Result.submission_id == one)).one()
            assert result.primary == 1.0


def test_a_run_that_is_killed_anywhere_goes_on_where_it_stood_and_nothing_is_paid_twice(stage, monkeypatch):
    """Each crash comes between two items: what was answered is not asked again."""
    on, calls = stage(reruns="0"), []

    class Killed(BaseException):
        """The end of a process."""

    kept = run._Run._keep

    def dying(self, answered):
        kept(self, answered)
        calls.append(answered.first)
        raise Killed

    monkeypatch.setattr(run._Run, "_keep", dying)
    one = on.program(SHELL_RUN)
    for _ in range(6):
        try:
            bring_on(on.office, one)
        except Killed:
            continue
    monkeypatch.setattr(run._Run, "_keep", kept)
    assert calls == [0, 1, 2, 3, 4, 5]
    paid = rows(on.office, one)[1].compute
    assert process(on, one) == "scored"
    assert rows(on.office, one)[1].compute == paid


def test_faults_of_a_program_are_its_teams_and_say_nothing_of_sealed_items(stage):
    on = stage(memory='"128 MiB"')
    hides = "case $(cat in/items.tsv) in *s1*) cp in/items.tsv out/answers.tsv; exit 0;; esac\n"
    faults = {
        "exit 7": "it ended with an error",
        "true": "its answers cannot be used",
        "head -c 400000000 /dev/zero > /tmp/x; sleep 9": None,
    }
    for text, words in faults.items():
        one = on.program(f"#!/bin/sh\n{hides}cat in/items.tsv\n{text}\n")
        assert bring_on(on.office, one) == "running"
        row, ran, cost = rows(on.office, one)
        assert (row.state, ran.stage, cost.state) == ("running", "failed", "reserved")
        with on.office.reading() as session:
            seen = visibility.submission(session, on.office, on.viewer, one)
        assert (seen.state, seen.program.stage, seen.program.minutes, seen.problems) == ("running", "run", None, None)
        on.office.clock.forward(minutes=2)
        pass_on_due(on.office)
        row, ran, cost = rows(on.office, one)
        assert (row.state, cost.state, cost.reason) == ("invalid", "freed", "invalid")
        assert ran.compute > 0
        assert words is None or words in ran.cause or ran.cause.startswith("the program wrote no file")
        with on.office.reading() as session:
            seen = visibility.submission(session, on.office, on.viewer, one)
            assert seen.program.stage == "failed"
            assert (seen.program.minutes, seen.program.log, seen.program.exact) == (1, False, {})
            assert [found["message"] for found in seen.problems["problems"]] == [
                "the program failed on the sealed items"
            ]
            staff = visibility.submission(session, on.office, on.staff, one)
            assert staff.program.exact["cause"] == ran.cause


def test_what_fails_on_public_items_is_told_at_once_with_its_output(stage):
    on = stage()
    one = on.program("#!/bin/sh\necho looking at $(tail -n 1 in/items.tsv)\nexit 3\n")
    assert bring_on(on.office, one) == "invalid"
    with on.office.reading() as session:
        seen = visibility.submission(session, on.office, on.viewer, one)
        assert (seen.program.smoke, seen.program.stage) == (False, "failed")
        assert "public items" in seen.problems["problems"][0]["message"]
        assert visibility.program_log(session, on.office, on.viewer, one, "smoke") == "looking at s1 red\n"
    for content, words in (
        (b"no archive", "it cannot be unpacked"),
        (archive(other="x"), "there is no file `run` at its top"),
        (archive(folder__run="x"), "there is no file `run` at its top"),
        (archive(run="x", **{"..__..__up": "y"}), "a name in it leads elsewhere"),
        (archive(**{"oci-layout": "{}"}), "it is an image archive"),
    ):
        one = on.submit(content)
        assert bring_on(on.office, one) == "invalid"
        with on.office.reading() as session:
            assert words in visibility.submission(session, on.office, on.viewer, one).problems["problems"][0]["message"]


def test_faults_of_ours_are_tried_again_and_then_given_back_with_their_computing_time(stage, monkeypatch):
    on = stage()
    one = on.program(SHELL_RUN)

    def broken(self, call):
        raise OSError("the disk is gone")

    monkeypatch.setattr(type(RUNNER), "run", broken)
    monkeypatch.setattr(stages, "pause", lambda office, number: None)
    assert bring_on(on.office, one) == "failed"
    row, _, cost = rows(on.office, one)
    assert (row.fault, cost.state) == ("the server's disk could not be written", "refunded")
    with on.office.reading() as session:
        assert compute.used(session, row.campaign_id, "programs", row.team_id) == 0


def test_computing_time_is_used_up_and_then_no_program_is_taken(stage):
    on = stage(compute='"1 s"')
    one = on.program("#!/bin/sh\nsleep 0.4\ncp in/items.tsv out/answers.tsv\n")
    assert process(on, one) == "invalid"
    assert "the team's computing time is used up" in rows(on.office, one)[1].cause
    with pytest.raises(RefusedError, match="1 min of computing time"):
        on.program(SHELL_RUN)
    assert on.program(SHELL_RUN, team="beta")


def test_answers_that_depend_on_order_or_chance_are_found(stage):
    on = stage(reruns="6", batch="3")
    text = SHELL_RUN.replace("echo answered", "").replace('"$id" "$word"', '"$id" "$(wc -l < in/items.tsv)"')
    one = on.program(text)
    process(on, one)
    _, ran, _ = rows(on.office, one)
    assert (ran.checked, ran.differing) == (6, 6)


def test_a_program_that_answers_line_by_line_is_asked_over_a_pipe(stage):
    on = stage(mode='"pipe"', header="false", answers='"answers.tsv"')
    text = '#!/bin/sh\nwhile read -r line; do case $line in *x*) sleep 9;; esac; echo "$line"; done\n'
    one = on.program(text)
    assert bring_on(on.office, one) == "running"
    row, ran, _ = rows(on.office, one)
    assert (ran.stage, ran.checked, ran.differing, ran.cause) == ("answered", 3, 0, "")
    assert on.office.sealed.read(row.answers).decode().splitlines() == ITEMS
    late = on.program("#!/bin/sh\nread -r line; echo s1; read -r line; echo $line\n", label="late")
    assert bring_on(on.office, late) == "running"
    assert rows(on.office, late)[1].cause == "it ended with an error"


def test_a_run_gives_way_after_its_slice_only_where_somebody_else_waits(stage, monkeypatch):
    on = stage(reruns="0")
    slices = on.office.settings.limits.model_copy(update={"slice_seconds": 0.0})
    monkeypatch.setattr(on.office.settings, "limits", slices)
    one = on.program(SHELL_RUN)
    on.program(SHELL_RUN, team="beta")
    assert [bring_on(on.office, one) for _ in range(5)] == ["again"] * 5
    assert bring_on(on.office, one) == "running"
    alone = on.program(SHELL_RUN, team="beta", label="alone")
    monkeypatch.setattr(run, "others_wait", lambda office, team: False)
    assert bring_on(on.office, alone) == "running"
    assert rows(on.office, alone)[1].done == 6


def test_answers_and_logs_are_in_a_backup_and_half_a_run_too(stage, monkeypatch, tmp_path):
    on = stage(log='"1 KiB"', reruns="0")
    monkeypatch.setattr(run, "others_wait", lambda office, team: True)
    whole, half = on.program(SHELL_RUN), on.program(SHELL_RUN, team="beta")
    assert process(on, whole) == "scored"
    limits = on.office.settings.limits.model_copy(update={"slice_seconds": 0.0})
    monkeypatch.setattr(on.office.settings, "limits", limits)
    assert bring_on(on.office, half) == "again"
    saved = back_up(on.office, Lock(b"x" * 32), tmp_path / "backup")
    assert saved.missing == ()
    assert (saved.rows["program_runs"], saved.rows["program_answers"]) == (2, 1)
    row, ran, _ = rows(on.office, whole)
    assert {on.office.sealed.has(str(one)) for one in (row.answers, ran.log)} == {True}
