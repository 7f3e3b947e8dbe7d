"""A log that was cut off or written again: what the command and the page say of it (X-31)."""

from __future__ import annotations

import hashlib
import json

import pytest
from sqlalchemy import delete, select, update
from tests.cli.running import here
from tests.server.pages.organiser.test_saying import _drop_guards

from basanite.campaign import receipts
from basanite.campaign.store.events import _content
from basanite.campaign.store.tables import Event, Receipt


@pytest.fixture
def season(stage):
    """A season with two receipts, and some events after the first one."""
    stage.submit(label="first", kind="contrastive")
    stage.submit(label="second", kind="contrastive")
    return stage


def verify(stage, *words, code):
    ended = here("admin", "events", "--verify", "--limit", "1", "--data", stage.office.settings.data, *words)
    assert ended.code == code, ended.stdout + ended.stderr
    return ended.stdout


def cut(stage, after):
    """What somebody who owns the database file can do: take every event after a number away."""
    with stage.office.writing() as session:
        _drop_guards(session, stage.office)
        session.execute(delete(Event).where(Event.sequence > after))


def write_anew(stage, sequence):
    """The same person forges who did something, and computes all digests again."""
    with stage.office.writing() as session:
        _drop_guards(session, stage.office)
        session.execute(update(Event).where(Event.sequence == sequence).values(actor="somebody else"))
        previous = "0" * 64
        for one in session.scalars(select(Event).order_by(Event.sequence)).all():
            content = _content(one)
            plain = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            digest = hashlib.sha256(f"{previous}\n{plain}".encode()).hexdigest()
            values = {"previous": previous, "digest": digest}
            session.execute(update(Event).where(Event.sequence == one.sequence).values(**values))
            previous = digest


@pytest.mark.req("X-31")
def test_a_whole_log_agrees_with_its_receipts(season, desk):
    assert "It agrees with" in verify(season, code=0)
    assert "signed receipts and saved checkpoints" in desk().act("/log").text


@pytest.mark.req("X-31", case="bad")
@pytest.mark.parametrize("harm", [lambda stage: cut(stage, 3), lambda stage: write_anew(stage, 3)], ids=["cut", "new"])
def test_a_log_that_was_cut_or_written_anew_is_noticed_by_its_receipts(season, desk, harm):
    harm(season)
    assert "The chain is broken at" in verify(season, code=1)
    assert "The chain is broken at" in desk().act("/log").text


@pytest.mark.req("X-31", case="bad")
def test_a_head_or_receipt_from_outside_tells_what_receipts_in_the_database_no_longer_can(season, tmp_path):
    with season.office.reading() as session:
        held = session.scalars(select(Receipt.content)).all()
    (tmp_path / "held.jsonl").write_bytes(b"".join(held))
    assert receipts.write_head(season.office)
    assert not receipts.write_head(season.office), "nothing happened since"
    heads = receipts.heads_file(season.office)
    kept = heads.read_bytes()
    cut(season, 3)
    with season.office.writing() as session:
        session.execute(delete(Receipt))
    assert "The chain is broken at" in verify(season, code=1)
    heads.unlink()
    assert "The chain of 3 events holds" in verify(season, code=0)
    assert "The chain is broken at" in verify(season, "--receipt", tmp_path / "held.jsonl", code=1)
    heads.write_bytes(kept.replace(b'"sequence":', b'"sequence":1'))
    assert "not signed by a key of this server" in verify(season, code=1)


@pytest.mark.req("X-31", case="bad")
def test_a_receipt_that_was_changed_in_the_database_is_noticed(season):
    with season.office.writing() as session:
        _drop_guards(session, season.office)
        row = session.scalars(select(Receipt)).first()
        row.content = row.content.replace(b'"sequence":', b'"sequence":1')
    assert "1 of" in verify(season, code=1)
