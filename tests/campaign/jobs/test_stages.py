"""What becomes of a submission: one verdict, one result, one cost, no matter who is at fault."""

import errno
import json
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.offices.machines import judge
from tests.offices.submitting import crowd, pack_folder, submit

from basanite.campaign.actions import references
from basanite.campaign.jobs import scoring_process, stages
from basanite.campaign.jobs.scoring_process import material
from basanite.campaign.model import refusals
from basanite.campaign.office import COMMAND
from basanite.campaign.store.tables import Adoption, Charge, Event, Message, Reference, Result, Submission


def process(office, submission_id):
    """Both stages, as the job runs them."""
    checked = stages.validate(office, submission_id)
    return stages.score(office, submission_id, checked["result"]) if checked["state"] == "scoring" else checked["state"]


def row(office, submission_id):
    with office.reading() as session:
        return session.get_one(Submission, submission_id)


def cost(office, submission_id):
    with office.reading() as session:
        return session.scalars(select(Charge).where(Charge.submission_id == submission_id)).one()


def told(office, submission_id):
    with office.reading() as session:
        return sorted(session.scalars(select(Message.template).where(Message.once.contains(submission_id))))


def instead(monkeypatch, program):
    """Another program in the place of the child."""
    monkeypatch.setattr(scoring_process, "COMMAND", (scoring_process.COMMAND[0], "-I", "-c", program))


def test_a_valid_submission_is_charged_and_scored_once_and_an_invalid_one_costs_nothing(office, pack):
    office.clock.set("2026-01-12 12:00")
    teams = crowd(office, pack.key)
    good = submit(office, teams.members[0], pack.perfect).id
    bad = submit(office, teams.members[1], pack.invalid).id
    assert (process(office, good), process(office, bad)) == ("scored", "invalid")
    assert (cost(office, good).state, cost(office, bad).state) == ("charged", "freed")
    found = refusals.listed_problems(office.files.read(row(office, bad).problems_digest))
    assert found["valid"] is False
    assert {problem["rule"] for problem in found["problems"]} == {"M29"}
    with office.reading() as session:
        result = session.scalars(select(Result)).one()
        assert result.primary == 1.0
        assert (result.plan_version, result.settings["beta"], result.software != "") == (1, 20.0, True)
        assert result.reference_id == session.scalars(select(Reference.id).where(Reference.dataset == "DEV")).one()
    assert told(office, good) == ["result_there", "submission_valid"]
    assert told(office, bad) == ["submission_invalid"]
    assert judge(office).wrong == ()


def test_stages_that_are_done_again_change_nothing(sqlite_office, submitted):
    one = submitted()
    first = stages.validate(sqlite_office, one)
    assert stages.validate(sqlite_office, one) == {"state": "scoring", "result": None}
    assert [stages.score(sqlite_office, one, first["result"]) for _ in range(2)] == ["scored", "scored"]
    assert stages.score(sqlite_office, one) == "scored"
    assert judge(sqlite_office).wrong == ()


def test_two_workers_that_finish_the_same_stage_keep_one_result(sqlite_office, submitted):
    one = submitted()
    result = stages.validate(sqlite_office, one)["result"]["digest"]
    tries = [stages.begin(sqlite_office, one, "scoring") for _ in range(2)]
    with sqlite_office.reading() as session:
        used = material(session, sqlite_office, row(sqlite_office, one))
    assert [stages.adopt(sqlite_office, begun, used, stages.Written(result)) for begun in tries] == ["scored", "scored"]
    with sqlite_office.reading() as session:
        assert len(session.scalars(select(Adoption)).all()) == 1
    assert judge(sqlite_office).wrong == ()


def replace_reference(office, key):
    """Another version of the truth comes to hold, as when a re-scoring is applied."""
    with office.writing() as session:
        old = session.scalars(select(Reference).where(Reference.dataset == "DEV", Reference.state == "active")).one()
        digest = office.sealed.put(pack_folder(key)).digest
        place = references.Place("CLIR", "DEV", "1A", "QUERY1")
        given = references.Material((digest,), names={digest: "key.tgz"})
        new = references.add(
            session, office, COMMAND, old.campaign_id, references.NewVersion(place, given, reason="mislabelled")
        )
        old.state, new.state = "superseded", "active"
        return new.id


def reference_of(office, submission_id):
    with office.reading() as session:
        return session.scalars(select(Result.reference_id).where(Result.submission_id == submission_id)).one()


def test_what_was_scored_before_a_new_reference_holds_is_scored_again_and_costs_no_try(
    office, teams_anywhere, pack, monkeypatch
):
    one = submit(office, teams_anywhere.members[0], pack.perfect).id
    verdict = stages.validate(office, one)
    new, kept = [], stages.adopt

    def overtaken(*given):
        """A new reference is applied between scoring and adopting."""
        if not new:
            new.append(replace_reference(office, pack.key))
        return kept(*given)

    monkeypatch.setattr(stages, "adopt", overtaken)
    assert stages.score(office, one, verdict["result"]) == "scored"
    assert (reference_of(office, one), row(office, one).tries) == (new[0], 1)
    assert judge(office).wrong == ()


def test_what_validation_scored_is_not_kept_for_another_reference(sqlite_office, submitted, pack):
    one = submitted()
    verdict = stages.validate(sqlite_office, one)
    turned = replace_reference(sqlite_office, pack.key)
    with sqlite_office.reading() as session:
        key = material(session, sqlite_office, row(sqlite_office, one)).key(row(sqlite_office, one))
    assert verdict["result"]["key"] != key
    assert stages.score(sqlite_office, one, verdict["result"]) == "scored"
    assert reference_of(sqlite_office, one) == turned
    with sqlite_office.reading() as session:
        assert session.scalars(select(Result.key)).all() == [key]


def test_in_a_blind_window_what_a_team_is_told_is_the_same_for_a_perfect_and_a_silent_run(sqlite_office, submitted):
    runs = [submitted(name, dataset="EVAL1") for name in ("perfect", "silent")]
    verdicts = [stages.validate(sqlite_office, one) for one in runs]
    assert verdicts == [{"state": "scoring", "result": None}] * 2
    before = [told(sqlite_office, one) for one in runs]
    assert [stages.score(sqlite_office, one) for one in runs] == ["scored", "scored"]
    assert [told(sqlite_office, one) for one in runs] == before == [["submission_valid"]] * 2
    with sqlite_office.reading() as session:
        results = session.scalars(select(Result)).all()
        assert sorted(result.primary for result in results) == [0.0, 1.0]
        kept = [event.data for event in session.scalars(select(Event))]
        kept += [message.data for message in session.scalars(select(Message))]
    assert all(result.digest not in json.dumps(kept) for result in results)


def test_the_same_archive_of_two_teams_is_scored_twice_and_shares_nothing(sqlite_office, submitted):
    runs = [submitted(member=member) for member in (0, 1)]
    process(sqlite_office, runs[0])
    verdict = stages.validate(sqlite_office, runs[1])
    assert row(sqlite_office, runs[1]).tries == 0
    assert verdict["state"] == "scoring"
    assert stages.score(sqlite_office, runs[1], verdict["result"]) == "scored"
    with sqlite_office.reading() as session:
        assert sorted(session.scalars(select(Result.submission_id))) == sorted(runs)


FAULTS = {
    "crash": ("import os; os.abort()", "stopped unexpectedly"),
    "missing package": ("import package_that_is_gone", "could not be started"),
    "hanging scorer": ("import os, time; os.write(1, b'checked\\n'); time.sleep(99)", "limit on time"),
}


@pytest.mark.parametrize("kind", list(FAULTS))
def test_a_fault_of_ours_is_tried_again_then_said_and_refunded(kind, sqlite_office, submitted, monkeypatch):
    program, words = FAULTS[kind]
    instead(monkeypatch, program)
    sqlite_office.settings.limits.seconds, sqlite_office.settings.limits.tries = 1, 2
    one = submitted()
    assert process(sqlite_office, one) == "failed"
    assert (row(sqlite_office, one).tries, cost(sqlite_office, one).state) == (2, "refunded")
    assert words in row(sqlite_office, one).fault
    assert told(sqlite_office, one) == ["submission_failed"]
    assert judge(sqlite_office).wrong == ()


def test_the_log_names_the_import_error_and_the_places_and_the_team_does_not_see_them(
    sqlite_office, submitted, monkeypatch, caplog
):
    instead(monkeypatch, "import package_that_is_gone")
    one = submitted()
    assert process(sqlite_office, one) == "failed"
    assert "ModuleNotFoundError: No module named 'package_that_is_gone'; interpreter " in caplog.text
    assert str(Path(scoring_process.__file__).parents[2]) in caplog.text
    assert "package" not in row(sqlite_office, one).fault


def test_a_submission_takes_at_most_the_tries_of_each_of_two_stages(sqlite_office, submitted, monkeypatch):
    limits, runs = sqlite_office.settings.limits, []
    limits.tries = 3
    one, kept = submitted(dataset="EVAL1"), stages.run_order

    def counted(office, order):
        """Validating fails until its last try, scoring always."""
        runs.append(order.work)
        monkeypatch.setattr(scoring_process, "COMMAND", CHILD if runs == ["validate"] * limits.tries else BROKEN)
        return kept(office, order)

    monkeypatch.setattr(stages, "run_order", counted)
    assert process(sqlite_office, one) == "failed"
    assert runs == ["validate"] * limits.tries + ["score"] * limits.tries


CHILD = scoring_process.COMMAND
BROKEN = (scoring_process.COMMAND[0], "-I", "-c", "import os; os.abort()")


def test_the_pause_before_a_further_try_doubles_and_is_never_longer_than_a_minute(sqlite_office, monkeypatch):
    waited = []
    monkeypatch.setattr(stages.time, "sleep", waited.append)
    sqlite_office.settings.limits.pause_seconds = 2.0
    for number in range(1, 8):
        stages.pause(sqlite_office, number)
    assert waited == [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


POISON = {
    "time": "while True: pass",
    "memory": "x = []\nwhile True: x.append(b'x' * 2**22)",
}


@pytest.mark.parametrize("limit", list(POISON))
def test_a_file_that_cannot_be_read_within_the_limits_is_invalid_under_a_rule(
    limit, sqlite_office, submitted, monkeypatch
):
    instead(monkeypatch, POISON[limit])
    sqlite_office.settings.limits.memory = 200 * 2**20
    sqlite_office.settings.limits.seconds = 2 if limit == "time" else 40
    one = submitted()
    assert process(sqlite_office, one) == "invalid"
    found = refusals.listed_problems(sqlite_office.files.read(row(sqlite_office, one).problems_digest))
    assert [(problem["rule"], limit in problem["message"]) for problem in found["problems"]] == [("X-8", True)]
    assert cost(sqlite_office, one).state == "freed"


def test_a_full_disk_costs_no_try_however_long_it_lasts(sqlite_office, submitted, monkeypatch):
    one, kept, asked = submitted(), stages.run_order, []

    def full(office, order):
        asked.append(row(office, one).tries)
        if len(asked) <= 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return kept(office, order)

    monkeypatch.setattr(stages, "run_order", full)
    sqlite_office.settings.limits.tries = 2
    assert process(sqlite_office, one) == "scored"
    assert asked == [1] * 6
    assert judge(sqlite_office).wrong == ()


def test_what_is_interrupted_each_time_ends_by_our_fault(sqlite_office, submitted):
    one = submitted()
    sqlite_office.settings.limits.tries = 3
    for _ in range(3):
        assert not isinstance(stages.begin(sqlite_office, one, "validating"), str)  # and then the power fails
    assert stages.validate(sqlite_office, one)["state"] == "failed"
    assert "interrupted" in row(sqlite_office, one).fault
    assert cost(sqlite_office, one).state == "refunded"


def test_a_run_that_failed_once_is_scored_at_the_next_try(sqlite_office, submitted, monkeypatch):
    one = submitted()
    assert not isinstance(stages.begin(sqlite_office, one, "validating"), str)
    assert process(sqlite_office, one) == "scored"
    assert row(sqlite_office, one).fault == ""
    assert judge(sqlite_office).wrong == ()


def test_a_submission_without_a_reference_is_our_fault(sqlite_office, submitted):
    one = submitted()
    with sqlite_office.writing() as session:
        for reference in session.scalars(select(Reference)):
            reference.state = "superseded"
    assert process(sqlite_office, one) == "failed"
    assert "no reference" in row(sqlite_office, one).fault


def test_a_reference_that_cannot_be_read_is_no_fault_of_the_team(sqlite_office, submitted):
    one = submitted()
    digest = sqlite_office.sealed.put(b"no archive at all").digest
    with sqlite_office.writing() as session:
        for reference in session.scalars(select(Reference)):
            reference.files = {"reference": [digest], "names": {digest: "key.tgz"}}
    assert process(sqlite_office, one) == "failed"
    assert cost(sqlite_office, one).state == "refunded"
