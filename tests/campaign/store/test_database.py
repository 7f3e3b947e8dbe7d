"""Transactions keep all or nothing, and a writer is alone, on both databases."""

import pytest
from sqlalchemy import func, select

from basanite.campaign.store.tables import Team


def fail_after_change(office, team):
    with office.writing() as session:
        session.get(Team, team).name = "Changed"
        session.flush()
        raise RuntimeError


def test_a_small_season_can_be_read_again(office, small):
    with office.reading() as session:
        assert session.scalar(select(func.count()).select_from(Team)) == 2


def test_an_act_that_fails_leaves_nothing_behind(office, small):
    with pytest.raises(RuntimeError):
        fail_after_change(office, small.alpha)
    with office.reading() as session:
        assert session.get(Team, small.alpha).name == "Alpha"
