"""A bundle of one submission: the signed score is made again from it, to the last digit that is signed."""

import json
import tarfile
from datetime import timedelta

import pytest
from keeping_rows import scored, submit
from sqlalchemy import select
from tests.offices.prepared import small_season

import basanite
from basanite.analysis.results import score_object
from basanite.campaign.actions.references import Material, NewVersion, Place, add
from basanite.campaign.archive.campaign_export import write_bundle
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.receipts import keyring
from basanite.campaign.score_receipts import score_receipt
from basanite.campaign.store.tables import Reference
from basanite.receipts import Trust, verify
from basanite.receipts.reproduction import BundleError, open_bundle, reproduce
from basanite.testing import small_campaign_text


@pytest.fixture
def there(sqlite_office):
    text = small_campaign_text().replace('feedback = "full"', 'feedback = "full"\nsettings = { beta = 20.0 }', 1)
    return small_season(sqlite_office, text)


@pytest.fixture
def row(sqlite_office, there, pack, tmp_path):
    """A submission that was really scored."""
    with tarfile.open(tmp_path / "key.tgz", "w:gz") as tar:
        for path in sorted(pack.key.iterdir()):
            tar.add(path, path.name)
    digest = sqlite_office.sealed.take(tmp_path / "key.tgz").digest
    with sqlite_office.writing() as session:
        place, material = Place("CLIR", "DEV", "1A", "QUERY1"), Material((digest,), names={digest: "key.tgz"})
        reference = add(session, sqlite_office, Actor(there.eva), there.campaign_id, NewVersion(place, material))
    row, _ = submit(sqlite_office, there, content=pack.perfect.read_bytes())
    analysis = basanite.score("clir", reference=tmp_path / "key.tgz", submission=pack.perfect, beta=20.0)
    scored(sqlite_office, row, reference, score_object(analysis))
    return row


@pytest.fixture
def receipt(sqlite_office, row):
    with sqlite_office.writing() as session:
        return score_receipt(session, sqlite_office, row.id)


@pytest.fixture
def bundle(sqlite_office, row, receipt, tmp_path):
    with sqlite_office.writing() as session:
        session.scalars(select(Reference)).one().released = sqlite_office.clock()
        session.flush()
        return write_bundle(session, sqlite_office, row.id, tmp_path / "bundle")


def content(office, receipt):
    with office.reading() as session:
        verdict = verify(receipt.content, Trust.of(keyring(session)), office.clock() + timedelta(days=1))
    assert verdict.valid
    return verdict.content


@pytest.mark.req("M80", "X-6", "X-1", case="good")
def test_a_signed_score_is_made_again_from_its_bundle(sqlite_office, receipt, bundle):
    made = reproduce(content(sqlite_office, receipt), open_bundle(bundle))
    assert made.problems == ()
    assert made.compared > 3
    assert "one unit" in made.notes[0]


@pytest.mark.req("M80", "S-6", case="bad")
def test_a_value_that_is_off_by_two_units_in_the_last_digit_is_found(sqlite_office, receipt, bundle):
    said = json.loads(json.dumps(content(sqlite_office, receipt)))
    values = said["result"]["values"]
    values["aqwv"]["value"] = 1.0 + 1e-9
    assert reproduce(said, open_bundle(bundle)).problems == (), "one unit is within what processors differ by"
    values["aqwv"]["value"] = 1.0 + 2e-9
    assert "aqwv" in reproduce(said, open_bundle(bundle)).problems[0].message


@pytest.mark.req("M80", "X-1", case="bad")
def test_another_submission_and_another_reference_are_found(sqlite_office, receipt, bundle, pack):
    said = content(sqlite_office, receipt)
    (bundle / "submission.tgz").write_bytes(pack.silent.read_bytes())
    found = " ".join(problem.message for problem in reproduce(said, open_bundle(bundle)).problems)
    assert "not the file that was submitted" in found
    assert "aqwv" in found
    with tarfile.open(bundle / "reference-1.tgz", "w:gz") as tar:
        for path in sorted(pack.key.iterdir()):
            (bundle / "flipped").write_text(path.read_text().replace("\tN\n", "\tY\n", 1))
            tar.add(bundle / "flipped", path.name)
    found = " ".join(problem.message for problem in reproduce(said, open_bundle(bundle)).problems)
    assert "commits to" in found


@pytest.mark.req("M71", case="bad")
def test_the_bundle_of_a_sealed_set_stays_on_the_server(sqlite_office, row, tmp_path):
    with sqlite_office.reading() as session:
        with pytest.raises(RefusedError, match="sealed") as refusal:
            write_bundle(session, sqlite_office, row.id, tmp_path / "no")
        assert refusal.value.status == 403
        assert not (tmp_path / "no").exists()
        made = write_bundle(session, sqlite_office, row.id, tmp_path / "staff", staff=True)
    assert json.loads((made / "bundle.json").read_text())["nonce"] is None


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", ".x", "", None, 7])
def test_a_bundle_reads_nothing_outside_of_its_folder(bundle, name):
    note = json.loads((bundle / "bundle.json").read_text())
    note["files"]["submission"] = name
    (bundle / "bundle.json").write_text(json.dumps(note))
    with pytest.raises(BundleError, match="no path"):
        open_bundle(bundle).path(name)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format":"basanite-bundle/2"}', "[" * 100_000])
def test_what_is_no_bundle_is_said_to_be_none(tmp_path, text):
    (tmp_path / "bundle.json").write_text(text)
    with pytest.raises(BundleError):
        open_bundle(tmp_path)
