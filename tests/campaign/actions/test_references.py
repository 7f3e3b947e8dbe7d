"""The truth in versions: checked before it opens a task, committed to without giving it away, held by two people."""

import hashlib
import json
import shutil

import pytest

from basanite.campaign.actions import approvals, plans, references
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor
from basanite.campaign.store.tables import Event, Reference
from basanite.receipts.reproduction import reference_content

PLACE = references.Place("CLIR", "EVAL1", "1A", "QUERY1")


def active(session, stage):
    place = (PLACE.task, PLACE.language, PLACE.queryset, PLACE.dataset)
    return references.active(session, stage.season.campaign_id, *place)


def campaign_of(stage):
    with stage.office.reading() as session:
        return plans.current(session, "small").campaign


@pytest.fixture
def bad_key(pack, tmp_path):
    shutil.copytree(pack.key, tmp_path / "bad")
    first, second = sorted((tmp_path / "bad").iterdir())[:2]
    first.write_text(first.read_text().replace("\tN", "\tno"))
    second.write_text(second.read_text() + "not a row\n")
    return tmp_path / "bad"


def test_a_bad_key_is_refused_with_all_its_problems_and_opens_no_task(stage, bad_key):
    material = references.take_in(stage.office, references.Paths((bad_key,)))
    with pytest.raises(RefusedError) as refusal:
        references.check_files(stage.office, campaign_of(stage), PLACE, material)
    assert len({problem.file for problem in refusal.value.problems}) == 2
    assert {problem.where for problem in refusal.value.problems} == {"reference"}
    assert all(problem.line for problem in refusal.value.problems)


def test_a_good_key_passes_the_same_check(stage):
    paths = references.Paths((stage.pack.key,), metadata=stage.pack.metadata)
    material = references.take_in(stage.office, paths)
    references.check_files(stage.office, campaign_of(stage), PLACE, material)


def test_a_reference_for_which_no_window_exists_is_refused(stage):
    with pytest.raises(RefusedError, match="no window accepts"):
        references.window_of(campaign_of(stage), references.Place("CLIR", "EVAL9", "1A", "QUERY1"))


def test_what_is_told_of_a_sealed_reference_confirms_no_guess_until_its_nonce_is_out(stage):
    with stage.office.writing() as session:
        row = active(session, stage)
        digest = row.files["reference"][0]
        told = json.dumps([event.data for event in session.query(Event).all()])
        assert row.commitment in told
        plain = reference_content(row.files)
        for guess in (digest, hashlib.sha256(plain).hexdigest(), hashlib.sha256(digest.encode()).hexdigest()):
            assert guess not in told
            assert guess != row.commitment
        with pytest.raises(RefusedError):
            references.nonce(stage.office, row)
        row.released = stage.clock()
        nonce = references.nonce(stage.office, row)
    assert len(bytes.fromhex(nonce)) == 32
    assert references.agrees(row.commitment, nonce, row.files)
    assert not references.agrees(row.commitment, nonce, row.files | {"reference": ["0" * 64]})


def test_files_of_a_reference_lie_apart_from_everything_a_team_can_reach(stage):
    with stage.office.reading() as session:
        row = active(session, stage)
        digest = row.files["reference"][0]
    assert stage.office.sealed.has(digest)
    assert not stage.office.files.has(digest)


def test_a_later_version_is_only_proposed_and_needs_a_reason(stage):
    with pytest.raises(RefusedError):
        stage.add_reference("EVAL1")
    second = stage.add_reference("EVAL1", reason="two documents were mislabelled")
    with stage.office.reading() as session:
        assert active(session, stage).version == 1
        row = session.get(Reference, second)
        assert (row.version, row.state, row.reason) == (2, "proposed", "two documents were mislabelled")


def test_where_the_campaign_wants_two_people_the_first_version_waits_for_the_second(stage):
    campaign, eva, otto = stage.season.campaign_id, stage.season.as_eva, Actor(stage.season.otto)
    material = references.take_in(stage.office, references.Paths((stage.pack.key,)))
    place = references.Place("CLIR", "EVAL1", "1A", "")
    row = stage.do(references.add, eva, campaign, references.NewVersion(place, material, hold=True))
    assert row.state == "proposed"
    approval = stage.do(approvals.ask_to_open, eva, campaign, row.id)
    with pytest.raises(RefusedError):
        stage.do(approvals.agree, eva, approval.id)
    stage.do(approvals.agree, otto, approval.id)
    with stage.office.reading() as session:
        held = session.get(Reference, row.id)
        assert (held.state, held.by, held.seconded_by) == ("active", stage.season.eva, stage.season.otto)


def test_open_queries_are_told_apart_for_scoring(stage, tmp_path):
    names = sorted(path.stem for path in stage.pack.key.iterdir())
    (tmp_path / "open.txt").write_text(names[0] + "\n")
    paths = references.Paths((stage.pack.key,), open_queries=tmp_path / "open.txt")
    material = references.take_in(stage.office, paths)
    table = stage.office.sealed.read(material.metadata[-1]).decode().splitlines()
    assert table[:2] == ["query\topenness", f"{names[0]}\topen"]
    assert {line.split("\t")[1] for line in table[2:]} == {"closed"}
