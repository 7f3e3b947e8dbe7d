"""Personal data: sealed, found again, exported, erased, and nowhere else (P-21)."""

import json
import shutil

import pytest
from sqlalchemy import select, text

from basanite.campaign.duties import apply_retention
from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.notices.outbox import send_due
from basanite.campaign.office import COMMAND, Actor
from basanite.campaign.people.agreements import accept_rules, sign
from basanite.campaign.people.communication import ask_question
from basanite.campaign.people.links import make_link
from basanite.campaign.people.membership import ask_to_join, decide_join
from basanite.campaign.people.persons import Newcomer, NewDetails, add_person, by_mail, change_personal, personal
from basanite.campaign.people.privacy import (
    destroy_forgotten,
    erase_person,
    export_person,
    note_address,
    shared_addresses,
)
from basanite.campaign.people.roles import RoleGrant, grant, viewer
from basanite.campaign.people.teams import members
from basanite.campaign.store import events
from basanite.campaign.store.personal import FORGOTTEN, KEYS
from basanite.campaign.store.tables import Account, AddressSeen, Base, Identity, Link, Message, Person, Session, Token

NAME, MAIL, STREET = "Xanthippe Quarles", "xanthippe.quarles@planted.example", "Planted Street 17"


def planted(town):
    """A person who did everything that leaves rows, with a name that can be searched for."""
    office = town.office
    with office.writing() as session:
        person = add_person(session, office, Newcomer(name=NAME, mail=MAIL, other={"address": STREET}))
        actor, now = Actor(person.id), office.clock()
        asked = ask_to_join(session, office, actor, town.small.alpha, site="Athens")
        decide_join(session, office, town.small.as_ada, asked.id, accept=True)
        accept_rules(session, office, actor, town.campaign, "usage", "1")
        ask_question(session, office, actor, town.campaign, "When does it open?")
        make_link(session, office, "reset", person_id=person.id)
        note_address(session, office, person.id, "192.0.2.7")
        session.add(Token(digest="d", person_id=person.id, label="laptop", scopes=["read"], made=now))
        session.add(Identity(issuer="https://id.example", subject="subject-of-x", person_id=person.id, made=now))
        session.add(Session(digest="s", person_id=person.id, csrf="c", made=now, seen=now, expires=now))
    return actor


def whole_database(office):
    """Every byte of the database file and its write-ahead log; of a server's database, every value of every row."""
    data = office.settings.data
    if not office.database.is_sqlite:
        with office.reading() as session:
            rows = [row for table in Base.metadata.sorted_tables for row in session.execute(table.select())]
        values = [value for row in rows for value in row]
        return b"\0".join(value if isinstance(value, bytes) else str(value).encode() for value in values)
    return b"".join(path.read_bytes() for path in sorted(data.glob("basanite.sqlite*")))


def test_a_person_is_found_by_address_however_it_is_written_and_twice_is_refused(both_towns):
    town = both_towns
    carl = town.person("Carl")
    with town.office.reading() as session:
        assert by_mail(session, town.office, "  CARL@Example.org").id == carl.id
        assert by_mail(session, town.office, "carl@example.com") is None
        assert personal(session, town.office, carl.id).name == "Carl"
    with pytest.raises(RefusedError) as refusal:
        town.act(add_person, Newcomer(name="Other", mail="Carl@EXAMPLE.org"))
    assert refusal.value.status == 409


@pytest.mark.parametrize(
    ("name", "mail"),
    [
        ("Carl\nBcc: all@example.org", "carl@example.org"),
        ("Carl\u202e", "carl@example.org"),
        ("Carl", "carl@example.org\nBcc: all@example.org"),
        ("Carl", "carl@example.org, all@example.org"),
        ("Carl", "carl"),
        ("Carl", "@example.org"),
        ("x" * 201, "carl@example.org"),
        ("Carl", "c" * 250 + "@example.org"),
    ],
)
def test_what_cannot_be_a_name_or_an_address_is_refused(town, name, mail):
    with pytest.raises(RefusedError) as refusal:
        town.act(add_person, Newcomer(name=name, mail=mail))
    assert refusal.value.status == 422


def test_personal_data_can_be_corrected_but_not_to_anothers_address(town):
    carl = town.person("Carl")
    town.act(change_personal, carl, carl.id, NewDetails(mail="new@example.org"))
    with town.office.reading() as session:
        assert personal(session, town.office, carl.id).mail == "new@example.org"
        assert by_mail(session, town.office, "carl@example.org") is None
    with pytest.raises(RefusedError):
        town.act(change_personal, carl, carl.id, NewDetails(mail="ada@people.example"))


def test_planted_names_and_addresses_are_nowhere_in_the_database_the_events_or_the_files(town):
    planted(town)
    send_due(town.office)
    raw = whole_database(town.office)
    folder = town.office.settings.data
    files = [path for path in folder.rglob("*") if path.is_file() and "outbox" not in path.parts]
    raw += b"".join(path.read_bytes() for path in files)
    assert len(raw) > (100_000 if town.office.database.is_sqlite else 10_000)
    for word in (NAME, "Xanthippe", MAIL, "quarles@planted", STREET, "192.0.2.7"):
        assert word.encode() not in raw
        assert word.lower().encode() not in raw.lower()


def test_the_same_search_finds_what_is_not_sealed(town):
    town.act(ask_question, town.small.as_ada, town.campaign, f"Is {NAME} here?")
    assert NAME.encode() in whole_database(town.office)


def test_an_export_holds_what_belongs_to_the_person_and_no_secret(both_towns):
    town = both_towns
    actor = planted(town)
    given = json.loads(json.dumps(town.act(export_person, actor, actor.id)))
    assert given["personal"] == {"name": NAME, "mail": MAIL, "other": {"address": STREET}}
    assert {"people", "accounts", "memberships", "acceptances", "questions", "links", "tokens", "messages"} <= set(
        given["rows"]
    )
    assert given["rows"]["memberships"][0]["site"] == "Athens"
    assert {"identities", "sessions", "events", "addresses_seen"} <= set(given["rows"])
    hidden = {"sealed", "mail_digest", "password", "csrf", "digest", "second_factor"}
    assert not any(hidden & set(row) for rows in given["rows"].values() for row in rows)


def test_an_export_is_for_the_person_and_administrators_alone(town):
    actor = planted(town)
    for stranger in (town.small.as_ada, town.small.as_eva):
        with pytest.raises(RefusedError):
            town.act(export_person, stranger, actor.id)
        with pytest.raises(RefusedError):
            town.act(erase_person, stranger, actor.id)
    assert town.act(export_person, COMMAND, actor.id)["person"] == actor.id


def test_an_erased_person_is_forgotten_and_the_log_still_holds(both_towns):
    town = both_towns
    actor = planted(town)
    send_due(town.office)
    town.act(erase_person, actor, actor.id)
    assert actor.id not in town.office.vault.names(KEYS)
    with town.office.reading() as session:
        person = session.get(Person, actor.id)
        assert (person.sealed, person.mail_digest) == (None, None)
        assert personal(session, town.office, actor.id) == FORGOTTEN
        assert by_mail(session, town.office, MAIL) is None
        assert viewer(session, town.campaign, actor.id) == VISITOR
        assert session.get(Account, actor.id).closed is not None
        assert session.scalars(select(Token).where(Token.person_id == actor.id)).one().revoked is not None
        for table in (Session, Link, Identity, AddressSeen):
            assert session.scalars(select(table).where(table.person_id == actor.id)).all() == []
        assert actor.id not in {member.person for member in members(session, town.small.alpha)}
        assert list(events.broken(session)) == []
    letters = [path.read_text() for path in (town.office.settings.data / "outbox").glob("*.eml")]
    assert letters
    assert not any(word in letter for letter in letters for word in ("Xanthippe", "planted.example"))


@pytest.mark.sqlite("its file is put back")
def test_a_restored_older_backup_cannot_be_read_for_an_erased_person(town, tmp_path):
    actor = planted(town)
    shutil.copytree(town.office.settings.data, tmp_path / "kept", ignore=shutil.ignore_patterns("vault"))
    town.act(erase_person, actor, actor.id)
    town.office.close()
    restored = tmp_path / "kept" / "basanite.sqlite"
    for old in town.office.settings.data.glob("basanite.sqlite*"):
        old.unlink()
    for name in restored.parent.glob("basanite.sqlite*"):
        shutil.copy(name, town.office.settings.data / name.name)
    with town.office.reading() as session:
        assert session.get(Person, actor.id).sealed is not None
        assert personal(session, town.office, actor.id) == FORGOTTEN
    assert town.act(destroy_forgotten) == 1
    with town.office.reading() as session:
        assert session.get(Person, actor.id).sealed is None
        assert by_mail(session, town.office, MAIL) is None
        assert list(events.broken(session)) == []


def test_a_key_that_outlived_an_erasure_is_destroyed_later(town):
    actor = planted(town)
    town.act(erase_person, actor, actor.id)
    town.office.vault.secret(KEYS, actor.id)
    assert town.act(destroy_forgotten) == 1
    assert actor.id not in town.office.vault.names(KEYS)


def test_a_vault_that_is_not_there_yet_erases_nobody(town):
    actor = planted(town)
    away = town.office.vault.folder.with_name("away")
    town.office.vault.folder.rename(away)
    assert town.act(destroy_forgotten) == 0
    away.rename(town.office.vault.folder)
    with town.office.reading() as session:
        assert personal(session, town.office, actor.id).name == NAME


def test_an_erasure_that_is_rolled_back_destroys_nothing(town):
    actor = planted(town)

    def fail_after_erasing():
        with town.office.writing() as session:
            erase_person(session, town.office, actor, actor.id)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_erasing()
    with town.office.reading() as session:
        assert personal(session, town.office, actor.id).name == NAME


def test_a_pi_of_others_hands_over_before_being_erased(town):
    with pytest.raises(RefusedError, match="hand over the team"):
        town.act(erase_person, town.small.as_ada, town.small.ada)
    town.act(erase_person, COMMAND, town.small.bea)


def test_a_signed_copy_is_forgotten_with_its_signatory(town):
    from basanite.campaign.people.agreements import signed_copy

    row = town.act(sign, town.small.as_bea, town.small.beta, "data", copy=b"%PDF-1.7 signed by Bea")
    assert b"signed by Bea" not in town.office.files.read(row.copy_digest)
    assert town.act(signed_copy, COMMAND, row.id) == ("application/pdf", b"%PDF-1.7 signed by Bea")
    town.act(erase_person, COMMAND, town.small.bea)
    assert town.act(signed_copy, COMMAND, row.id) is None


def test_what_has_had_its_time_is_forgotten_and_the_rest_stays(both_towns, clock):
    town = both_towns
    actor = planted(town)
    send_due(town.office)
    before = town.act(apply_retention)
    assert (before.links, before.sessions, before.messages, before.addresses) == (0, 0, 0, 0)
    clock.forward(days=400)
    after = town.act(apply_retention)
    assert min(after.links, after.sessions, after.messages, after.addresses) > 0
    with town.office.reading() as session:
        assert all(message.data == {} for message in session.scalars(select(Message)))
        assert personal(session, town.office, actor.id).name == NAME
    assert list((town.office.settings.data / "outbox").glob("*.eml")) == []


def test_accounts_that_nobody_used_are_erased_if_the_settings_say_so(town, clock):
    idle = town.person("Idle")
    judge = town.person("Judge")
    town.act(grant, COMMAND, RoleGrant(person_id=judge.id, role="judge", campaign_id=town.campaign))
    clock.forward(days=400)
    assert town.act(apply_retention).people == 0
    town.office.settings.retention.unused_accounts_days = 365
    assert town.act(apply_retention).people == 1
    with town.office.reading() as session:
        assert session.get(Person, idle.id).erased is not None
        assert session.get(Person, judge.id).erased is None


def test_addresses_shared_by_two_teams_are_shown_to_organisers_as_digests(town):
    for person, address in (
        (town.small.ada, "192.0.2.7"),
        (town.small.alan, "192.0.2.7"),
        (town.small.bea, "::ffff:192.0.2.7"),
        (town.small.ada, "2001:db8:1:2::1"),
        (town.small.bea, "2001:db8:1:3::1"),
    ):
        town.act(note_address, person, address)
    found = town.ask(shared_addresses, town.small.as_eva, town.campaign)
    assert [set(one.teams) for one in found] == [{town.small.alpha, town.small.beta}]
    with pytest.raises(RefusedError):
        town.ask(shared_addresses, town.small.as_ada, town.campaign)
    with town.office.reading() as session:
        assert "192.0.2.7" not in str(session.execute(text("SELECT * FROM addresses_seen")).all())
