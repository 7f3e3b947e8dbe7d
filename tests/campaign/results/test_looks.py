"""How many results a team had seen is kept as a number: it is that of its rows, whatever happened to them (S-17)."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update
from tests.campaign.results.test_boards import board, release

from basanite.campaign.actions import rescoring
from basanite.campaign.store import looks
from basanite.campaign.store.tables import Looks, Submission


@pytest.fixture
def busy(stage):
    """Three results of Alpha and one of Beta on the data of the open window; it is over and released."""
    runs = [stage.submit("alpha", "perfect", label=label, kind="contrastive") for label in ("one", "two")]
    runs += [stage.submit("alpha", "perfect", label="three"), stage.submit("beta", "silent")]
    stage.clock.set("2018-04-09 06:00")
    release(stage, "top", window="dev")
    return stage, runs


def shown(stage):
    return {row.name: row.looks for row in board(stage, "ada", "dev").rows}


def kept(office):
    with office.reading() as session:
        return {tuple(getattr(row, name) for name in looks.PLACE): row.count for row in session.scalars(select(Looks))}


def there(office):
    """The same, counted row by row."""
    with office.reading() as session:
        rows = session.scalars(select(Submission).where(Submission.state == "scored"))
        return Counter(tuple(getattr(row, name) for name in looks.PLACE) for row in rows)


def change(stage, run, **values):
    with stage.office.writing() as session:
        session.execute(update(Submission).where(Submission.id == run).values(**values))


def test_a_board_shows_the_number_that_is_kept(busy):
    stage, _ = busy
    assert kept(stage.office) == there(stage.office)
    with stage.office.writing() as session:
        session.execute(update(Looks).where(Looks.team_id == stage.season.alpha).values(count=70))
    assert shown(stage) == {"Alpha": 70, "Beta": 1}


def test_what_came_after_the_window_closed_is_no_look(busy):
    stage, (first, *_) = busy
    change(stage, first, received=stage.clock())
    assert shown(stage) == {"Alpha": 2, "Beta": 1}


def test_a_result_that_only_a_re_scoring_gives_is_a_look(busy):
    stage, (first, *_) = busy
    change(stage, first, state="failed")
    with stage.office.writing() as session:
        looks.recount(session, stage.season.campaign_id)
    assert shown(stage) == {"Alpha": 2, "Beta": 1}
    reference = stage.add_reference("DEV", reason="once more")
    batch = stage.do(rescoring.preview, stage.season.as_eva, reference, reason="once more")
    stage.score_batch(batch.id)
    stage.do(rescoring.apply, stage.season.as_eva, batch.id)
    assert shown(stage) == {"Alpha": 3, "Beta": 1}
    assert kept(stage.office) == there(stage.office)


def test_counting_anew_gives_the_same_and_touches_no_other_campaign(busy):
    stage, _ = busy
    before = kept(stage.office)
    with stage.office.writing() as session:
        session.execute(update(Looks).values(count=5))
        looks.recount(session, "another")
    assert set(kept(stage.office).values()) == {5}
    with stage.office.writing() as session:
        looks.recount(session, stage.season.campaign_id)
    assert kept(stage.office) == before


def test_two_results_at_the_same_moment_both_count(busy):
    stage, (first, *_) = busy

    def note(_):
        with stage.office.writing() as session:
            looks.note(session, session.get_one(Submission, first))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(20)))
    assert shown(stage) == {"Alpha": 23, "Beta": 1}
