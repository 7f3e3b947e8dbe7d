"""End-to-end values: every count and form against plain fractions, pair by pair as the plan describes it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.metrics.retrieval import query_value
from basanite.metrics.retrieval.query_value import (
    COLUMNS,
    E2E_AQWV,
    E2E_AQWV_ALL,
    E2E_AQWV_RELEVANT,
    E2E_PFA,
    E2E_PMISS,
    Detections,
    JudgedDetections,
    Returned,
    counts_of_shares,
    e2e_rates,
    rows_of_shares,
)

BETA = Fraction(599, 10)
METRICS = (E2E_AQWV, E2E_AQWV_ALL, E2E_AQWV_RELEVANT, E2E_PMISS, E2E_PFA)


@st.composite
def campaigns(draw):
    """Truth, decisions and, for each returned pair, a share of votes as a fraction."""
    queries, documents = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    table = st.lists(
        st.lists(st.booleans(), min_size=documents, max_size=documents), min_size=queries, max_size=queries
    )
    relevant, returned = draw(table), draw(table)
    share = st.integers(1, 5).flatmap(lambda k: st.integers(0, k).map(lambda r: Fraction(r, k)))
    pairs = sum(map(sum, returned))
    return relevant, returned, draw(st.lists(share, min_size=pairs, max_size=pairs))


def plain_counts(relevant, returned, shares):
    """For each query X1..X4, summed over its documents."""
    given = iter(shares)
    made = []
    for truths, answers in zip(relevant, returned, strict=True):
        x = [Fraction(0)] * 4
        for truth, answer in zip(truths, answers, strict=True):
            kept = next(given) if answer else Fraction(0)
            x[0 if truth else 2] += kept
            x[1 if truth else 3] += 1 - kept
        made.append(x)
    return made


def plain_values(counts):
    miss = [x2 / (x1 + x2) if x1 + x2 else None for x1, x2, _, _ in counts]
    alarm = [x3 / (x3 + x4) if x3 + x4 else Fraction(0) for _, _, x3, x4 in counts]
    having = [at for at, value in enumerate(miss) if value is not None]
    values = [1 - (value or 0) - BETA * alarm[at] for at, value in enumerate(miss)]
    mean_miss = mean([miss[at] for at in having])
    primary = None if mean_miss is None else 1 - mean_miss - BETA * mean(alarm)
    return [primary, mean(values), mean([values[at] for at in having]), mean_miss, mean(alarm)]


def mean(values):
    return sum(values, Fraction(0)) / len(values) if values else None


def judged(relevant, returned, shares):
    block = Detections(tuple(map(str, range(len(relevant)))), np.array(relevant), np.array(returned))
    return JudgedDetections(block.units, Returned.of(block), np.array(shares, dtype=float))


def values(block):
    rows = e2e_rates(block)
    return [metric.bind(beta=float(BETA)).of(rows) for metric in METRICS]


def as_floats(fractions):
    return [np.nan if value is None else float(value) for value in fractions]


@settings(max_examples=60, deadline=None)
@given(campaigns())
def test_raw_shares_give_the_values_that_fractions_give(campaign):
    counts = plain_counts(*campaign)
    block = judged(*campaign)
    found = counts_of_shares(block.returned, block.share)
    assert np.allclose(found[:, ::-1], [[float(x) for x in (x1, x2, x3, x4)] for x1, x2, x3, x4 in counts])
    assert np.allclose(values(block), as_floats(plain_values(counts)), equal_nan=True)


@settings(max_examples=40, deadline=None)
@given(campaigns())
def test_one_verdict_keeps_a_pair_or_moves_it_to_misses_or_rejected(campaign):
    relevant, returned, shares = campaign
    verdicts = [Fraction(share > Fraction(1, 2)) for share in shares]
    moved, given = np.array(returned), iter(verdicts)
    for query, document in np.argwhere(returned):
        moved[query, document] = bool(next(given))
    plain = query_value.rates(Detections((), np.array(relevant), moved))
    assert np.allclose(e2e_rates(judged(relevant, returned, verdicts)), plain)


def test_pairs_that_were_not_returned_enter_as_they_are():
    relevant = [[True, True, False, False]]
    silent = judged(relevant, [[False] * 4], [])
    assert counts_of_shares(silent.returned, silent.share).tolist() == [[2, 0, 2, 0]]
    some = judged(relevant, [[True, False, True, False]], [1, 1])
    assert counts_of_shares(some.returned, some.share).tolist() == [[1, 1, 1, 1]]


def test_queries_weigh_the_same_whatever_their_number_of_documents_found():
    relevant = [[True, False, False, False], [True, True, True, False]]
    block = judged(relevant, [[True, False, False, False], [True, True, True, False]], [0, 1, 1, 1])
    assert E2E_AQWV.bind(beta=59.9).of(e2e_rates(block)) == pytest.approx(0.5)


def test_a_returned_pair_without_judgement_has_no_end_to_end_rows():
    with pytest.raises(ValueError, match="M13"):
        e2e_rates(judged([[True]], [[True]], [np.nan]))


def test_judges_who_confirm_everything_leave_retrieval_as_it_is():
    relevant, returned = [[True, False, True], [False, False, True]], [[True, True, False], [False, True, True]]
    block = judged(relevant, returned, [1] * 4)
    plain = Detections(("a", "b"), np.array(relevant), np.array(returned))
    assert e2e_rates(block).tolist() == query_value.rates(plain).tolist()
    assert [metric.columns for metric in METRICS] == [COLUMNS] * 5
    assert E2E_AQWV.name == "e2e_aqwv"


@settings(max_examples=30, deadline=None)
@given(campaigns(), st.randoms(use_true_random=False))
def test_groups_of_documents_and_queries_read_one_by_one_give_the_same(campaign, random):
    relevant, returned, shares = (np.array(part) for part in campaign)
    cell = np.array([random.randrange(3) for _ in relevant[0]])
    block = Detections(tuple(map(str, range(len(relevant)))), relevant, returned)
    share = shares.astype(float)
    split = rows_of_shares(Returned.of(block.split(cell, 3)), share).reshape(len(relevant), 3, 5)
    for level in range(3):
        part = Detections(block.units, relevant[:, cell == level], returned[:, cell == level])
        inside = np.broadcast_to(cell == level, returned.shape)[returned]
        assert np.allclose(split[:, level], rows_of_shares(Returned.of(part), share[inside]))
    single = [Detections((unit,), relevant[at : at + 1], returned[at : at + 1]) for at, unit in enumerate(block.units)]
    joined = Returned.join([Returned.of(one) for one in single])
    assert np.array_equal(rows_of_shares(joined, share), rows_of_shares(Returned.of(block), share))


def test_nothing_at_all_has_no_rows():
    assert rows_of_shares(Returned.join([]), []).shape == (0, 5)
