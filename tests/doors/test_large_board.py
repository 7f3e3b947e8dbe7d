"""A board of more systems than can be compared pair by pair (P-40), read as a visitor reads it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.children import start_quickly
from tests.offices.crowd import OF, fill

from basanite.campaign.jobs import comparison
from basanite.campaign.results import boards
from basanite.server.app import make_app
from basanite.testing import SetClock, small_office

TEAMS, ITEMS = 104, 160
API = "/api/v1/campaigns/small/leaderboard?window=dev&task=classification"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A board of 104 teams, compared; gives the crowd and a visitor's browser."""
    folder = tmp_path_factory.mktemp("crowd")
    office = small_office(folder, SetClock())
    crowd = fill(office, folder, TEAMS, ITEMS)
    with office.writing() as session:
        orders = list(boards.orders_due(session, office))
    with pytest.MonkeyPatch.context() as patch:
        start_quickly(patch)
        assert [comparison.compare(office, **asdict(order)) for order in orders] == ["there"]
    yield crowd, TestClient(make_app(office))
    office.close()


def decided_by_hand(right, draws=2000):
    """Romano and Wolf over all pairs of means, from other random numbers: who is ahead of whom, and the adjusted p."""
    values, size = right.astype(float), right.shape[1]
    first, second = np.triu_indices(len(values), 1)
    gaps = values[first] - values[second]
    kept = (gaps != 0).sum(axis=1) >= 1 + np.log2(len(first) / 0.05)
    first, second, gaps = first[kept], second[kept], gaps[kept]
    observed = np.abs(gaps.mean(axis=1)) / (gaps.std(axis=1) / np.sqrt(size))
    weights = np.random.default_rng(99).multinomial(size, np.full(size, 1 / size), draws)
    means = weights @ gaps.T / size
    spread = np.sqrt(weights @ (gaps**2).T / size - means**2)
    null = np.abs(means - gaps.mean(axis=1)) * np.sqrt(size) / spread
    order = np.argsort(observed)
    largest = np.maximum.accumulate(null[:, order], axis=1)
    p_values = np.empty(len(order))
    p_values[order] = ((largest >= observed[order]).sum(axis=0) + 1) / (draws + 1)
    ahead = gaps.mean(axis=1) > 0
    return np.where(ahead, first, second), np.where(ahead, second, first), p_values


@pytest.fixture(scope="module")
def decisions(compared):
    """What an independent step-down says of every pair."""
    return decided_by_hand(compared[0].right)


@pytest.mark.req("P-40", "S-1")
def test_ranks_of_many_systems_come_from_all_pairs_on_the_boards_own_metric(compared, decisions):
    crowd, browser = compared
    board = browser.get(API).json()
    assert board["pending"] is False
    rows = {row["name"]: row for row in board["rows"]}
    assert len(rows) == TEAMS
    better, worse, p_values = decisions
    sure, open_ = p_values < 0.03, p_values < 0.075
    assert 1000 < sure.sum() < len(p_values) - 1000
    for number, name in enumerate(crowd.names):
        low, high = rows[name]["ranks"]
        assert 1 + (sure & (worse == number)).sum() <= low <= 1 + (open_ & (worse == number)).sum()
        assert TEAMS - (open_ & (better == number)).sum() <= high <= TEAMS - (sure & (better == number)).sum()
    assert board["detectable"][0] > 0.05


@pytest.mark.req("P-38", "P-40")
def test_every_row_is_compared_with_the_one_that_was_chosen(compared, decisions):
    crowd, browser = compared
    chosen = TEAMS // 2
    name = crowd.names[chosen]
    rows = {row["name"]: row for row in browser.get(f"{API}&against={name}").json()["rows"]}
    better, worse, p_values = decisions
    for number, other in enumerate(crowd.names):
        near = p_values[((better == number) & (worse == chosen)) | ((worse == number) & (better == chosen))]
        if number == chosen:
            assert rows[other]["against"] is None
        elif not near.size or near[0] > 0.075:
            assert rows[other]["against"] == 0
        elif near[0] < 0.03:
            assert rows[other]["against"] == (1 if crowd.right[number].mean() > crowd.right[chosen].mean() else -1)
    page = browser.get(f"/campaigns/small/leaderboard?of={OF}&against={name}").text
    assert "significantly better" in page
    assert "significantly worse" in page
    assert "no significant difference" in page
    unknown = browser.get(f"{API}&against=Nobody").json()["rows"]
    assert all(row["against"] is None for row in unknown)
