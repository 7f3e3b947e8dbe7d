"""Who locks a row sees what it is now: on PostgreSQL others may have changed it since it was read."""

import ast
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

import basanite
from basanite.campaign.actions import two_people
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Approval, Team

SOURCE = Path(basanite.__file__).parent
on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)


def locking_calls():
    """Every call of `session.get` and the like that locks, with its place."""
    for path in sorted((SOURCE / "campaign").rglob("*.py")) + sorted((SOURCE / "server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(word.arg == "with_for_update" for word in node.keywords):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node


def test_every_row_that_is_locked_is_read_again():
    """Without `populate_existing` the session gives what it read before it waited for the lock."""
    calls = dict(locking_calls())
    assert len(calls) > 10
    stale = [
        place
        for place, call in calls.items()
        if call.func.attr != "refresh" and not any(word.arg == "populate_existing" for word in call.keywords)
    ]
    assert stale == []


@on_postgresql
def test_what_was_decided_between_the_look_and_the_lock_is_seen(office, small):
    with office.writing() as session:
        wanted = two_people.Request("release", {"window": "week"}, "it is time")
        asked = two_people.ask(session, office, small.as_eva, small.campaign_id, wanted).id
    with office.writing() as one:
        assert one.get_one(Approval, asked).state == "waiting"
        with office.writing() as other:
            two_people.record_decision(other, office, Actor(small.otto), asked, "agreed")
        with pytest.raises(RefusedError, match="already agreed"):
            two_people.record_decision(one, office, small.as_eva, asked, "refused")


def test_who_only_reads_sees_one_moment_however_many_questions_it_asks(office, small):
    with office.reading() as reader:
        before = reader.scalar(select(Team.name).where(Team.id == small.alpha))
        with office.writing() as session:
            session.get_one(Team, small.alpha).name = "Changed"
        assert reader.scalar(select(Team.name).where(Team.id == small.alpha)) == before
    with office.reading() as reader:
        assert reader.scalar(select(Team.name).where(Team.id == small.alpha)) == "Changed"


@on_postgresql
def test_who_only_reads_cannot_write(office, small):
    with office.reading() as session:
        session.get_one(Team, small.alpha).name = "Changed"
        with pytest.raises(DBAPIError, match="read-only"):
            session.flush()
