"""Near-identical submissions of different teams are found, and shown to the organiser alone (X-7)."""

import hashlib

import pytest
from tests.offices.prepared import small_season

from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.intake.similarity import KEPT, note_members, similar
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.store.files import Stored
from basanite.testing import small_campaign_text


def kept(files):
    """What the child tells of an archive with these files."""
    return sorted({hashlib.sha256(name.encode()).hexdigest()[:24] for name in files})[:KEPT]


@pytest.fixture
def submit(office, declared):
    small = small_season(office, small_campaign_text(quota=50))
    numbers = iter(range(100))

    def submitted(team, files):
        actor = small.as_ada if team == "alpha" else small.as_bea
        with office.writing() as session:
            row = accept(
                session, office, actor, Arrival(getattr(small, team), declared, Stored(f"{next(numbers):064x}", 1))
            )
            note_members(session, row, kept(files))
            return row.id, row.similar_to

    submitted.season = small
    return submitted


FILES = [f"query{number:05d}.tsv" for number in range(300)]


def test_a_copy_with_some_files_changed_is_found(office, submit):
    first, nothing = submit("alpha", FILES)
    assert nothing is None
    changed = [*FILES[:290], *(f"{name}!" for name in FILES[290:])]
    copy, found = submit("beta", changed)
    assert found == first
    small = submit.season
    with office.reading() as session:
        pairs = similar(session, small.as_eva, small.campaign_id)
        assert [(pair.submission, pair.other) for pair in pairs] == [(copy, first)]
        with pytest.raises(RefusedError):
            similar(session, small.as_ada, small.campaign_id)


def test_other_answers_and_a_team_s_own_are_not_similar(submit):
    submit("alpha", FILES)
    assert submit("alpha", FILES)[1] is None
    assert submit("beta", [f"{name}!" for name in FILES])[1] is None
    half = [*FILES[:150], *(f"{name}?" for name in FILES[150:])]
    assert submit("beta", half)[1] is None


def test_what_is_no_digest_is_left_out(office, submit):
    made, _ = submit("alpha", FILES)
    from basanite.campaign.store.tables import Submission

    with office.writing() as session:
        row = session.get(Submission, made)
        assert note_members(session, row, ["x", "../..", 7, None, "0" * 64]) is None
