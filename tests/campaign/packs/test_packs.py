"""Files of packs: encrypted before their time, opened at their minute, handed out to who may have them."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from tests.offices.prepared import small_season

from basanite.campaign.actions.packs import (
    NewFile,
    add_file,
    downloads,
    find_pack,
    hand_out,
    hand_out_key,
    list_files,
    note_published,
    published_key,
    published_keys,
)
from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.sealing import Lock, unseal
from basanite.campaign.store.tables import Acceptance, CampaignRow, Event, Signature
from basanite.testing import small_campaign_text

MORE = """
[[packs]]
id = "EVAL2"
family = "secret"
released = "2018-01-01 00:00"
key_at = "2018-07-24 09:00"
usage = "eval"
agreement = "data"

[[agreements]]
id = "data"
title = "Data use"
version = "2"
text = "Keep it."
"""
MINUTE = datetime(2018, 7, 24, 13, 0, tzinfo=UTC)
"""09:00 in New York."""
CONTENT = b"the documents of the evaluation\n" * 50_000


@pytest.fixture
def text():
    return small_campaign_text(more=MORE)


@pytest.fixture
def there(sqlite_office, text):
    return small_season(sqlite_office, text)


@pytest.fixture
def campaign(text):
    return load(text)


@pytest.fixture
def file(sqlite_office, there, campaign, tmp_path):
    (tmp_path / "docs.tgz").write_bytes(CONTENT)
    with sqlite_office.writing() as session:
        pack = find_pack(campaign, "EVAL2")
        return add_file(session, sqlite_office, there.as_eva, there.campaign_id, pack, NewFile(tmp_path / "docs.tgz"))


def sign(office, there, team=None, **changes):
    now = office.clock()
    values = {"state": "executed", "version": "2", "expires": None} | changes
    with office.writing() as session:
        session.add(
            Signature(
                campaign_id=there.campaign_id, team_id=team or there.alpha, agreement="data", signatory=there.ada,
                uploaded=now, executed=now, **values,
            )
        )  # fmt: skip


def get(office, there, campaign, file, person="ada", team="alpha", key=False):
    viewer = Viewer(getattr(there, person), team=getattr(there, team) if team else None)
    with office.writing() as session:
        if key:
            return hand_out_key(session, office, viewer, there.campaign_id, campaign, file.pack)
        actor = Actor(getattr(there, person))
        here = (session.get_one(CampaignRow, there.campaign_id), campaign)
        return hand_out(session, office, actor, viewer, here, file.id)


def test_a_pack_lies_encrypted_everywhere_until_its_key_is_out(sqlite_office, there, campaign, file, clock):
    assert file.encrypted
    assert file.name == "docs.tgz.sealed"
    for path in sqlite_office.settings.data.rglob("*"):
        assert not path.is_file() or CONTENT[:1000] not in path.read_bytes()
    clock.set(MINUTE)
    with sqlite_office.reading() as session:
        key = published_key(session, sqlite_office, there.campaign_id, find_pack(campaign, "EVAL2"))
    content = sqlite_office.files.read(file.digest)
    assert b"".join(unseal(io.BytesIO(content), Lock.from_file(key.key.encode()))) == CONTENT


@pytest.mark.parametrize("early", [timedelta(microseconds=1), timedelta(seconds=1), timedelta(days=60)], ids=str)
def test_no_function_gives_the_key_before_its_minute(sqlite_office, there, campaign, file, clock, early):
    sign(sqlite_office, there)
    clock.set(MINUTE - early)
    pack = find_pack(campaign, "EVAL2")
    with sqlite_office.writing() as session:
        assert published_keys(session, sqlite_office, there.campaign_id, campaign) == ()
        assert note_published(session, sqlite_office, there.campaign_id, campaign) == ()
        with pytest.raises(RefusedError) as refusal:
            published_key(session, sqlite_office, there.campaign_id, pack)
        assert refusal.value.retry_at == MINUTE
        secret = sqlite_office.vault.read("pack", sqlite_office.vault.names("pack")[0]).hex()
        assert secret not in json.dumps([event.data for event in session.scalars(select(Event))])
    for viewer in (Viewer(there.ada, team=there.alpha), Viewer(there.eva, frozenset({"evaluation"}))):
        with sqlite_office.writing() as session, pytest.raises(RefusedError, match="has not been published"):
            hand_out_key(session, sqlite_office, viewer, there.campaign_id, campaign, "EVAL2")


@pytest.mark.parametrize("late", [timedelta(0), timedelta(microseconds=1)], ids=str)
def test_the_key_is_out_from_its_minute_on_and_the_log_says_so_once(sqlite_office, there, campaign, file, clock, late):
    sign(sqlite_office, there)
    clock.set(MINUTE + late)
    assert len(get(sqlite_office, there, campaign, file, key=True).key) == 64
    with sqlite_office.writing() as session:
        assert note_published(session, sqlite_office, there.campaign_id, campaign) == ("EVAL2",)
        assert note_published(session, sqlite_office, there.campaign_id, campaign) == ()


def test_the_minute_is_the_campaigns_own_where_a_season_is_rehearsed(sqlite_office, there, campaign, file, clock):
    clock.set(MINUTE + timedelta(days=1))
    with sqlite_office.writing() as session:
        session.get_one(CampaignRow, there.campaign_id).clock_offset = -86_401.0
        session.flush()
        assert published_keys(session, sqlite_office, there.campaign_id, campaign) == ()


def test_a_member_of_a_team_that_signed_gets_the_file_and_it_is_written_down(sqlite_office, there, campaign, file):
    sign(sqlite_office, there)
    handed = get(sqlite_office, there, campaign, file, "alan")
    assert handed.path.read_bytes().startswith(b'{"format": "basanite-sealed/1"')
    with sqlite_office.reading() as session:
        (row,) = downloads(session, there.campaign_id)
        assert (row.person_id, row.team_id, row.pack, row.digest) == (there.alan, there.alpha, "EVAL2", file.digest)
        assert session.scalars(select(Event.actor).where(Event.kind == "pack.downloaded")).all() == [there.alan]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(None, id="none"),
        pytest.param({"state": "uploaded"}, id="not-counter-signed"),
        pytest.param({"version": "1"}, id="older-version"),
        pytest.param({"expires": datetime(2018, 1, 15, 12, tzinfo=UTC)}, id="expired"),
        pytest.param({"state": "refused"}, id="refused"),
    ],
)
def test_without_the_executed_agreement_nobody_of_the_team_gets_anything(sqlite_office, there, campaign, file, changes):
    sign(sqlite_office, there, there.beta)
    if changes:
        sign(sqlite_office, there, **changes)
    with pytest.raises(RefusedError, match="agreement"):
        get(sqlite_office, there, campaign, file)
    with sqlite_office.reading() as session:
        assert not downloads(session, there.campaign_id)


def test_without_accepted_rules_the_person_gets_nothing(sqlite_office, there, campaign, file):
    sign(sqlite_office, there)
    with sqlite_office.writing() as session:
        session.delete(session.scalars(select(Acceptance).where(Acceptance.person_id == there.alan)).one())
    with pytest.raises(RefusedError, match="rules") as refusal:
        get(sqlite_office, there, campaign, file, "alan")
    assert [problem.rule for problem in refusal.value.problems] == ["M82"]
    assert get(sqlite_office, there, campaign, file, "ada")


@pytest.mark.parametrize("team", [None])
def test_to_people_without_a_team_a_pack_does_not_exist(sqlite_office, there, campaign, file, team):
    with pytest.raises(RefusedError) as refusal:
        get(sqlite_office, there, campaign, file, team=team)
    assert refusal.value.status == 404


def test_before_its_release_a_pack_does_not_exist_for_teams(sqlite_office, there, campaign, file, clock):
    sign(sqlite_office, there)
    clock.set("2018-01-01 04:59:59")
    with pytest.raises(RefusedError) as refusal:
        get(sqlite_office, there, campaign, file)
    assert refusal.value.status == 404


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a" * 121, 'a"b', "a\nb", "é.tgz"])
def test_odd_names_are_refused(sqlite_office, there, campaign, tmp_path, name):
    (tmp_path / "x").write_bytes(b"x")
    path = tmp_path / "x"
    with sqlite_office.writing() as session, pytest.raises(RefusedError) as refusal:
        add_file(session, sqlite_office, there.as_eva, there.campaign_id, campaign.packs[0], NewFile(path, name or "-"))
    assert refusal.value.status == 422


def test_a_file_that_was_handed_out_cannot_be_exchanged(sqlite_office, there, campaign, file, tmp_path):
    pack = find_pack(campaign, "EVAL2")
    with sqlite_office.writing() as session, pytest.raises(RefusedError, match="already"):
        add_file(session, sqlite_office, there.as_eva, there.campaign_id, pack, NewFile(tmp_path / "docs.tgz"))


def test_the_listing_shows_usage_size_and_digest(sqlite_office, there, campaign, file):
    with sqlite_office.reading() as session:
        (listed,) = list_files(session, there.campaign_id, campaign)
    assert (listed.pack, listed.usage, listed.encrypted, listed.digest) == ("EVAL2", "eval", True, file.digest)
    with pytest.raises(RefusedError, match="DEV, EVAL1"):
        find_pack(campaign, "EVAL3")
