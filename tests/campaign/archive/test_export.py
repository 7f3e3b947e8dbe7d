"""Exporting a campaign and importing it elsewhere: history travels, rights do not."""

import hashlib
import json
import shutil
import tarfile
from contextlib import closing

import pytest
from keeping_rows import add_reference, filled, scored, submit
from sqlalchemy import func, select
from tests.cli.running import here

from basanite.campaign.archive.campaign_export import CARRIED, export_campaign
from basanite.campaign.archive.campaign_import import import_campaign
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import COMMAND
from basanite.campaign.receipts import keyring, signing_key
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store import events
from basanite.campaign.store.tables import (
    Account,
    Base,
    CampaignRow,
    Event,
    Grant,
    Looks,
    Membership,
    Person,
    Receipt,
    ReceiptKey,
    Reference,
    Result,
    Submission,
    Team,
    Token,
)
from basanite.errors import BasaniteError
from basanite.problems import Problem
from basanite.receipts import Trust, verify
from basanite.testing import season, small_campaign_text, small_office

STAYING = {
    "acceptances",
    "accounts",
    "addresses_seen",
    "approvals",
    "dropped",
    "duty_exceptions",
    "events",
    "grants",
    "failed_sign_ins",
    "identities",
    "lead_requests",
    "links",
    "looks",
    "memberships",
    "messages",
    "panel_consents",
    "panel_seats",
    "people",
    "program_answers",
    "read_marks",
    "reading_searches",
    "receipt_keys",
    "sessions",
    "signatures",
    "sketches",
    "tokens",
    "uploads",
    "webhooks",
    "workers",
}
"""Tables that are no part of an export: rights, persons, what passes, and what is made again."""


@pytest.fixture
def exported(sqlite_office, tmp_path):
    """A season on one server, exported."""
    there = filled(sqlite_office, season(sqlite_office))
    with sqlite_office.writing() as session:
        scored_one = session.scalars(select(Submission).where(Submission.state == "scored")).one()
        score_receipt(session, sqlite_office, scored_one.id)
    export_campaign(sqlite_office, there.campaign_id, tmp_path / "export", references=True)
    return tmp_path / "export"


@pytest.fixture
def other(tmp_path, clock, request):
    """Another server with a season of its own."""
    with closing(small_office(tmp_path / "other", clock, address="https://other.example")) as office:
        season(office, small_campaign_text(slug="local"))
        yield office


def count(session, table):
    return session.scalar(select(func.count()).select_from(table))


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "archive"])
def test_an_imported_campaign_has_the_same_history(sqlite_office, exported, other, tmp_path, packed):
    path = exported
    if packed:
        with sqlite_office.reading() as session:
            id_ = session.scalars(select(CampaignRow.id)).one()
        path = tmp_path / "export.tgz"
        export_campaign(sqlite_office, id_, path, references=True)
    imported = import_campaign(other, COMMAND, path)
    assert imported.slug == "small"
    with sqlite_office.reading() as here, other.reading() as there:
        for table in (Submission, Result, Receipt):
            key = next(iter(table.__table__.primary_key.columns))
            ids = [set(session.scalars(select(key))) for session in (here, there)]
            assert ids[0] <= ids[1], table
        assert there.scalars(select(Result.primary)).all() == here.scalars(select(Result.primary)).all()
        result = there.scalars(select(Result)).one()
        assert other.files.read(result.digest) == sqlite_office.files.read(result.digest)
        assert [(row.window, row.count) for row in there.scalars(select(Looks))] == [("dev", 1)]
        assert not list(events.broken(there))
        assert there.scalars(select(Event.kind).order_by(Event.sequence)).all()[-1] == "campaign.imported"


def test_an_import_brings_no_account_role_token_or_key(exported, other):
    with other.reading() as session:
        before = [count(session, table) for table in (Person, Account, Grant, Membership, Token)]
    secrets = sorted(
        path.name for path in other.vault.folder.rglob("*") if path.is_file() and path.parent.name != "reference"
    )
    import_campaign(other, COMMAND, exported)
    with other.writing() as session:
        assert [count(session, table) for table in (Person, Account, Grant, Membership, Token)] == before
        people = set(session.scalars(select(Person.id)))
        assert not people & set(session.scalars(select(Submission.person_id)))
        assert all(name.startswith("foreign-") for name in session.scalars(select(Submission.person_id)))
        foreign = {row.id for row in session.scalars(select(ReceiptKey).where(ReceiptKey.origin != ""))}
        assert foreign
        assert signing_key(session, other).id not in foreign
    after = sorted(
        path.name
        for path in other.vault.folder.rglob("*")
        if path.is_file() and path.parent.name not in ("reference", "signing")
    )
    assert after == secrets


def test_old_receipts_verify_under_the_old_key_and_are_marked_foreign(exported, other):
    import_campaign(other, COMMAND, exported)
    with other.reading() as session:
        trusted = Trust.of(keyring(session))
        receipts = session.scalars(select(Receipt)).all()
        assert len(receipts) == 3
        for receipt in receipts:
            verdict = verify(receipt.content, trusted, other.clock())
            assert verdict.valid
            assert verdict.foreign == "http://127.0.0.1:8000"


def test_sealed_references_stay_at_home_unless_asked_for(sqlite_office, other, tmp_path):
    there = filled(sqlite_office, season(sqlite_office))
    export_campaign(sqlite_office, there.campaign_id, tmp_path / "without")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "without").rglob("*") if path.is_file())
    assert b"D1\tY\n" not in everything
    for path in sqlite_office.vault.folder.rglob("*"):
        if path.is_file():
            assert path.read_bytes() not in everything
            assert path.read_bytes().hex().encode() not in everything
    imported = import_campaign(other, COMMAND, tmp_path / "without")
    assert any("without their files" in line for line in imported.not_kept)
    with other.reading() as session:
        assert session.scalars(select(Reference.state)).all() == ["superseded"]


def test_an_export_names_no_person(exported):
    everything = b"".join(path.read_bytes() for path in exported.rglob("*") if path.is_file())
    assert b"Lovelace" not in everything
    assert b"example.org" not in everything


def changed(exported, name, change):
    """An export whose maker changed a file and wrote a fitting manifest."""
    path = exported / name
    path.write_bytes(change(path.read_bytes()))
    manifest = json.loads((exported / "export.json").read_bytes())
    manifest["digests"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["rows"] |= {
        table: len((exported / "rows" / f"{table}.jsonl").read_bytes().splitlines()) for table in CARRIED
    }
    (exported / "export.json").write_text(json.dumps(manifest))
    return exported


HOSTILE = {
    "digest-is-a-path": ("rows/submissions.jsonl", lambda text: text.replace(b'"sha256":"', b'"sha256":"../../')),
    "other-campaign": ("rows/teams.jsonl", lambda text: text.replace(b'"campaign_id":"', b'"campaign_id":"x')),
    "team-not-there": ("rows/submissions.jsonl", lambda text: text.replace(b'"team_id":"', b'"team_id":"x')),
    "unknown-column": ("rows/teams.jsonl", lambda text: text.replace(b'"name":', b'"admin":1,"name":')),
    "wrong-type": ("rows/submissions.jsonl", lambda text: text.replace(b'"number":1', b'"number":"1"')),
    "no-zone": ("rows/teams.jsonl", lambda text: text.replace(b"+00:00", b"")),
    "two-campaigns": ("rows/campaigns.jsonl", lambda text: text + text),
    "no-campaign": ("rows/campaigns.jsonl", lambda text: b""),
    "nul": ("rows/teams.jsonl", lambda text: text.replace(b"Alpha", b"Al\\u0000pha")),
    "deep": ("rows/teams.jsonl", lambda text: b"[" * 100_000),
    "twice": ("rows/teams.jsonl", lambda text: text + text),
    "no-plan": ("rows/plans.jsonl", lambda text: text.replace(b"basanite-campaign/1", b"nonsense/1")),
    "keys": ("keys.json", lambda text: b"{}"),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_export_is_refused_and_leaves_no_row(exported, other, fault):
    name, change = HOSTILE[fault]
    with pytest.raises(BasaniteError) as refusal:
        import_campaign(other, COMMAND, changed(exported, name, change))
    assert str(refusal.value)
    with other.reading() as session:
        assert session.scalars(select(CampaignRow.slug)).all() == ["local"]
        assert count(session, Submission) == 0
        assert not session.scalars(select(Event).where(Event.kind == "campaign.imported")).all()


@pytest.mark.req("X-26")
def test_an_import_brings_no_teams_that_are_taken_for_each_other_or_for_an_organizer(exported, other):
    data = ("--data", str(other.settings.data))
    alike = changed(exported, "rows/teams.jsonl", lambda text: text.replace(b'"name":"Beta"', b'"name":"A1pha"'))
    refused = here("admin", "import", str(alike), *data)
    assert refused.code != 0
    assert "looks like another team's" in refused.stderr
    named = changed(exported, "rows/teams.jsonl", lambda text: text.replace(b'"A1pha"', b'"0tto"'))
    done = here("admin", "import", str(named), *data)
    assert "the team '0tto' is renamed '0tto - imported'" in done.stdout, done
    with other.reading() as session:
        names = session.scalars(select(Team.name).join(CampaignRow).where(CampaignRow.slug == "small")).all()
    assert sorted(names) == ["0tto - imported", "Alpha"]


def test_a_member_of_another_team_cannot_be_reached_by_an_import(exported, other):
    """Rows that name a local team are refused, though the database would take them."""
    with other.reading() as session:
        local = session.scalars(select(Membership.team_id)).first()
    rows = (exported / "rows/submissions.jsonl").read_text().splitlines()
    first = json.loads(rows[0]) | {"team_id": local}
    change = "\n".join([json.dumps(first), *rows[1:]]).encode() + b"\n"
    with pytest.raises(RefusedError, match="not in the export"):
        import_campaign(other, COMMAND, changed(exported, "rows/submissions.jsonl", lambda _: change))


def test_a_changed_file_a_link_and_a_second_import_are_refused(exported, other, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(exported, copy)
    file = next((copy / "files").iterdir())
    file.chmod(0o600)
    file.write_bytes(b"other")
    with pytest.raises(RefusedError, match="does not match its digest"):
        import_campaign(other, COMMAND, copy)
    shutil.rmtree(copy)
    shutil.copytree(exported, copy)
    (copy / "rows" / "teams.jsonl").unlink()
    (copy / "rows" / "teams.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(BasaniteError):
        import_campaign(other, COMMAND, copy)
    import_campaign(other, COMMAND, exported)
    with pytest.raises(RefusedError, match="already"):
        import_campaign(other, COMMAND, exported)


def test_an_archive_that_leads_out_of_its_folder_is_refused(exported, other, tmp_path):
    archive = tmp_path / "evil.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(exported / "export.json", "../../export.json")
    with pytest.raises(RefusedError) as refusal:
        import_campaign(other, COMMAND, archive)
    assert all(isinstance(problem, Problem) for problem in refusal.value.problems)


@pytest.mark.store
def test_adoptions_go_on_counting_after_an_import(office, tmp_path, clock):
    with closing(small_office(tmp_path / "home", clock)) as home:
        there = filled(home, season(home))
        export_campaign(home, there.campaign_id, tmp_path / "out", references=True)
    local = season(office, small_campaign_text(slug="local"))
    row, _ = submit(office, local)
    reference = add_reference(office, local)
    scored(office, row, reference, key="l1")
    import_campaign(office, COMMAND, tmp_path / "out")
    scored(office, row, reference, key="l2")
    from basanite.campaign.results.facts import adopted_results

    with office.reading() as session:
        assert adopted_results(session, [row.id])[row.id].key == "l2"


def test_what_is_exported_is_decided_table_by_table():
    """A new table must be thought about: carried, or named here as staying."""
    unknown = set(Base.metadata.tables) - set(CARRIED) - STAYING
    assert unknown == set()
    assert not STAYING & set(CARRIED)
