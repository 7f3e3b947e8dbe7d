"""References that are encrypted on disk are scored like others, and no file of the server shows them (P-12)."""

import hashlib

from basanite.campaign.jobs.scoring_process import Given, Order, run_order
from basanite.formats.archives.output import write_archive
from basanite.testing import small_office


def test_a_child_scores_with_an_encrypted_reference(tmp_path, clock, pack):
    key = tmp_path / "key.tgz"
    write_archive(((path.name, path.read_bytes()) for path in sorted(pack.key.iterdir())), key)
    office = small_office(tmp_path, clock, encrypt_references=True)
    digest = office.sealed.take(key).digest
    assert digest == hashlib.sha256(key.read_bytes()).hexdigest()
    assert office.sealed.size(digest) == key.stat().st_size
    raw = key.read_bytes()
    key.unlink()
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file() and raw[50:90] in path.read_bytes()] == []
    order = Order(
        "examine",
        "clir",
        reference=(Given("key.tgz", office.sealed.path(digest), office.sealed),),
        submission=Given("perfect.tgz", pack.perfect),
        draws=None,
        seed=0,
        sealed=False,
        settings={},
    )
    with run_order(office, order) as outcome:
        assert outcome.good
        assert b'"aqwv"' in outcome.path("result.json").read_bytes()
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file() and raw[50:90] in path.read_bytes()] == []
    office.close()
