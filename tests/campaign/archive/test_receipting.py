"""Receipts of a campaign: intake for everybody at once, scores only when the policy says so."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest
from keeping_rows import RESULT, add_reference, scored, submit
from sqlalchemy import select
from tests.offices.prepared import small_season

from basanite.campaign.model.policy import VISITOR
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import SYSTEM
from basanite.campaign.receipts import LostKeyError, keyring, revoke_key, rotate, signing_key
from basanite.campaign.score_receipts import score_receipt, score_receipts
from basanite.campaign.store import events
from basanite.campaign.store.tables import Adoption, Event, Receipt, ReceiptKey, Release, Team
from basanite.receipts import Keyring, Trust, verify


def content(receipt):
    return json.loads(receipt.content)["content"]


def checked(office, receipt, pinned=None):
    with office.reading() as session:
        ring = keyring(session)
    return verify(receipt.content, Trust.of(pinned or ring, ring), office.clock())


@pytest.mark.store
def test_each_submission_has_an_intake_receipt_that_anchors_the_log(office, small):
    row, receipt = submit(office, small)
    assert checked(office, receipt).valid
    said = content(receipt)
    assert said["submission"]["sha256"] == row.sha256
    assert said["standing"] == "on time"
    assert said["campaign"] == {"id": small.campaign_id, "slug": "small"}
    with office.reading() as session:
        event = session.get_one(Event, said["log"]["sequence"])
        assert event.digest == said["log"]["head"]
        accepted = session.scalars(select(Event).where(Event.kind == "submission.accepted")).one()
        assert accepted.sequence <= event.sequence


@pytest.mark.store
def test_receipts_made_at_once_are_signed_by_one_key(office, small):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        receipts = list(pool.map(lambda number: submit(office, small, number=number)[1], range(1, 9)))
    assert len({receipt.key_id for receipt in receipts}) == 1
    with office.reading() as session:
        assert len(session.scalars(select(ReceiptKey)).all()) == 1
        assert not list(events.broken(session))


def test_no_byte_of_an_intake_receipt_depends_on_the_reference(sqlite_office):
    there = small_season(sqlite_office)
    row, before = submit(sqlite_office, there)
    reference = add_reference(sqlite_office, there, b"D1\tN\n")
    scored(sqlite_office, row, reference)
    _, after = submit(sqlite_office, there, number=2)
    one, other = content(before), content(after)
    for said in (one, other):
        said.pop("log")
        said["submission"].pop("id")
        said["submission"].pop("number")
    assert one == other
    text = after.content.decode()
    assert reference.commitment not in text
    for digest in reference.files["reference"]:
        assert digest not in text
    assert "0.3141592654" not in text
    assert "state" not in other["submission"]


def test_a_receipt_names_no_team_and_no_person(sqlite_office):
    there = small_season(sqlite_office)
    _, receipt = submit(sqlite_office, there)
    assert b"alpha" not in receipt.content.lower()
    assert there.ada.encode() not in receipt.content


@pytest.mark.store
def test_a_released_score_has_a_receipt_with_all_that_it_depends_on(office, small):
    row, _ = submit(office, small)
    reference = add_reference(office, small)
    scored(office, row, reference)
    with office.writing() as session:
        receipt = score_receipt(session, office, row.id, "k1")
        assert score_receipt(session, office, row.id) is receipt, "asking again gives the same"
    assert checked(office, receipt).valid
    said = content(receipt)["result"]
    assert said["values"]["aqwv"]["value"] == 0.3141592654
    assert said["plan_version"] == "6.0.4"
    assert said["settings"]["beta"] == 20.0
    assert said["software"] == "basanite test"
    assert said["reference"] == {"commitment": reference.commitment, "version": 1}
    assert said["digests"]["submission"] == RESULT["digests"]["submission"]


def test_a_score_receipt_shows_the_commitment_and_no_digest_of_a_sealed_key(sqlite_office):
    there = small_season(sqlite_office)
    row, _ = submit(sqlite_office, there)
    reference = add_reference(sqlite_office, there)
    scored(sqlite_office, row, reference)
    with sqlite_office.writing() as session:
        receipt = score_receipt(session, sqlite_office, row.id)
    assert "reference" not in content(receipt)["result"]["digests"]
    for digest in reference.files["reference"]:
        assert digest.encode() not in receipt.content


def test_in_a_blind_week_no_score_receipt_exists_before_release(sqlite_office, clock):
    there = small_season(sqlite_office)
    clock.set("2018-04-05 12:00")
    row, _ = submit(sqlite_office, there, window="week", dataset="EVAL1")
    scored(sqlite_office, row, add_reference(sqlite_office, there))
    with sqlite_office.writing() as session, pytest.raises(RefusedError):
        score_receipt(session, sqlite_office, row.id)
    with sqlite_office.reading() as session:
        assert score_receipts(session, row.id) == ()
        assert b"0.3141592654" not in b"".join(session.scalars(select(Receipt.content)))
    clock.set("2018-05-01 12:00")
    with sqlite_office.writing() as session:
        session.add(
            Release(
                campaign_id=there.campaign_id, window="week", level="top", by=there.eva, open_appeals=[], at=clock()
            )
        )
        session.flush()
        assert content(score_receipt(session, sqlite_office, row.id))["result"]["values"]
        with pytest.raises(RefusedError):
            score_receipt(session, sqlite_office, row.id, viewer=VISITOR)


def test_a_rescoring_supersedes_the_receipt_before(sqlite_office):
    there = small_season(sqlite_office)
    row, _ = submit(sqlite_office, there)
    reference = add_reference(sqlite_office, there)
    scored(sqlite_office, row, reference)
    with sqlite_office.writing() as session:
        first = score_receipt(session, sqlite_office, row.id)
    better = RESULT | {"values": {"aqwv": RESULT["values"]["aqwv"] | {"value": 0.4}}}
    scored(sqlite_office, row, reference, better, "k2")
    with sqlite_office.writing() as session:
        with pytest.raises(RefusedError, match="superseded"):
            score_receipt(session, sqlite_office, row.id, "k1")
        second = score_receipt(session, sqlite_office, row.id, "k2")
    assert second.supersedes == first.id == content(second)["supersedes"]
    assert checked(sqlite_office, first).valid, "what was signed stays signed"
    assert checked(sqlite_office, second).valid


@pytest.mark.store
def test_after_a_rotation_old_and_new_receipts_verify_by_the_key_that_was_pinned_first(office, small, clock):
    _, old = submit(office, small)
    with office.reading() as session:
        pinned = Keyring(keyring(session).keys)
    clock.forward(days=1)
    with office.writing() as session:
        rotate(session, office)
    _, new = submit(office, small, number=2)
    assert old.key_id != new.key_id
    assert checked(office, old, pinned).valid
    assert checked(office, new, pinned).valid


def test_what_a_revoked_key_signed_is_not_believed_and_a_new_key_signs(sqlite_office, clock):
    there = small_season(sqlite_office)
    _, old = submit(sqlite_office, there)
    clock.forward(timedelta(hours=1))
    with sqlite_office.writing() as session:
        revoke_key(session, sqlite_office, SYSTEM, old.key_id, "stolen")
    _, new = submit(sqlite_office, there, number=2)
    assert not checked(sqlite_office, old).valid
    assert checked(sqlite_office, new).valid


def test_without_the_vault_nothing_is_signed(sqlite_office):
    there = small_season(sqlite_office)
    _, receipt = submit(sqlite_office, there)
    sqlite_office.vault.destroy("signing", receipt.key_id)
    with sqlite_office.writing() as session, pytest.raises(LostKeyError, match="vault"):
        signing_key(session, sqlite_office)
    with sqlite_office.writing() as session:
        rotate(session, sqlite_office)
        pinned = Keyring(tuple(key for key in keyring(session).keys if key.id == receipt.key_id))
    _, new = submit(sqlite_office, there, number=2)
    assert checked(sqlite_office, new).valid
    assert not checked(sqlite_office, new, pinned).valid, "no lost key can vouch for the next"


def test_the_process_that_reads_strangers_files_cannot_sign():
    """The scoring child loads neither the vault nor anything that makes receipts, and the signer loads no parser."""
    script = "import sys, basanite.campaign.jobs.child; print(*sorted(sys.modules))"
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "basanite.scoring" in child
    assert not {name for name in child if name.startswith(("basanite.receipts", "basanite.campaign.receipts"))}
    assert "basanite.campaign.store.vault" not in child
    script = "import sys, basanite.campaign.receipts; print(*sorted(sys.modules))"
    signer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "basanite.receipts.signatures" in signer
    assert not {name for name in signer if name.startswith(("basanite.scoring", "basanite.tasks", "basanite.spine"))}


def test_a_team_that_is_renamed_does_not_change_its_receipts(sqlite_office):
    there = small_season(sqlite_office)
    _, receipt = submit(sqlite_office, there)
    with sqlite_office.writing() as session:
        session.get_one(Team, there.alpha).name = "Gamma"
        assert session.scalars(select(Adoption)).all() == []
    assert checked(sqlite_office, receipt).valid
