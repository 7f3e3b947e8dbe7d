"""Weights and signs: the same bytes everywhere, fair, and moving whole clusters."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.analysis.samples import MEAN, means

from basanite.analysis.intervals import interval
from basanite.analysis.resampling import (
    Job,
    all_signs,
    cluster_sums,
    frame_of,
    indices,
    portion_of,
    resample,
    sign_blocks,
    signs,
    weight_blocks,
    weights,
)
from basanite.analysis.results import Design

MADE_ON_ANY_MACHINE = """
import json, numpy as np
from basanite.analysis.intervals import interval
from basanite.analysis.results import Design
from basanite.kernel import NOT_NEGATIVE, Metric, UnitRows
def pooled(sums): return np.sqrt(sums[..., :40].sum(axis=-1) / sums[..., 40:].sum(axis=-1))
rows = np.abs(np.sin(np.arange(301 * 80.0))).reshape(301, 80)
table = UnitRows("query", tuple(f"q{n:03}" for n in range(301)), tuple(map(str, range(80))), rows)
found = interval(Metric("pooled", "", "", "", len, pooled, range=NOT_NEGATIVE), table, Design(draws=400))
print(json.dumps([f"{number:.10g}" for number in (found.value, found.low, found.high)]))
"""


def test_every_draw_has_as_many_units_as_there_are():
    drawn = weights(7, draws=50, seed=1)
    assert drawn.shape == (50, 7)
    assert drawn.dtype == np.float64
    assert (drawn.sum(axis=1) == 7).all()
    assert (drawn >= 0).all()


def test_weights_are_fixed_bytes():
    drawn = weights(7, draws=5, seed=3).astype(np.int8)
    assert hashlib.sha256(drawn.tobytes()).hexdigest() == (
        "d2dcc9a8125ce07a315b1ed8c3e7e1f4723a49463c4bea261f07fc87ee50cdf0"
    )


def test_signs_are_fixed_bytes():
    drawn = signs(70, draws=5, seed=3).astype(np.int8)
    assert hashlib.sha256(drawn.tobytes()).hexdigest() == (
        "151b3b0e8a7205ae608974b43ddf77fd82e11af765bd6a1d55e577ba6a540664"
    )


def test_indices_are_the_high_part_of_a_product_of_whole_numbers():
    words = np.random.PCG64(5).random_raw(500)
    by_hand = [[(int(word) >> 32) * 37 >> 32 for word in words], [(int(word) % 2**32) * 37 >> 32 for word in words]]
    assert indices(words[None, :], 37).reshape(2, -1).tolist() == by_hand


def test_results_agree_to_ten_digits_on_other_processors_and_thread_counts():
    machines = [("Haswell", "1"), ("Sandybridge", "2"), ("Prescott", "1")]
    found = {_output(OPENBLAS_CORETYPE=core, OPENBLAS_NUM_THREADS=threads) for core, threads in machines}
    assert len(found) == 1
    assert len(json.loads(found.pop())) == 3


def test_blocks_of_any_size_make_the_same_weights_and_signs():
    whole, parts = weights(9, draws=30, seed=2), weight_blocks(9, draws=30, seed=2, columns=1 << 15)
    assert np.array_equal(whole, np.concatenate(list(parts)))
    whole, parts = signs(99, draws=30, seed=2), sign_blocks(99, draws=30, seed=2, columns=1 << 15)
    assert np.array_equal(whole, np.concatenate(list(parts)))


def test_other_seeds_and_kinds_draw_otherwise():
    drawn = [weights(20, draws=3, seed=seed, kind=kind).tobytes() for seed in (0, 1) for kind in ("query", "document")]
    assert len(set(drawn)) == 4


def test_units_are_drawn_evenly():
    drawn = weights(13, draws=4000, seed=0)
    assert np.abs(drawn.mean(axis=0) - 1).max() < 0.08
    assert abs(drawn.var() - 12 / 13) < 0.05
    assert abs(signs(13, draws=4000, seed=0).mean()) < 0.02


def test_all_signs_are_all_different_and_the_first_swaps_nothing():
    patterns = all_signs(6)
    assert len({tuple(row) for row in patterns}) == 64
    assert (patterns[0] == 1).all()


@pytest.mark.req("S-10")
def test_whole_clusters_are_drawn():
    clusters = np.repeat(np.arange(20), 5)
    values = np.repeat(np.arange(20.0), 5)
    clustered = interval(MEAN, means(values, clusters=clusters), Design())
    one_each = interval(MEAN, means(np.arange(20.0)), Design())
    apart = interval(MEAN, means(values), Design())
    assert (clustered.low, clustered.high) == pytest.approx((one_each.low, one_each.high))
    assert clustered.high - clustered.low > 1.8 * (apart.high - apart.low)


@pytest.mark.req("S-10")
def test_the_fewest_units_are_counted_in_clusters():
    few = interval(MEAN, means(np.arange(100.0), clusters=np.arange(100) % 14), Design())
    assert few.low is None
    assert few.units == 100
    assert few.flags == ("too few for an interval",)


def test_rows_are_summed_by_cluster():
    rows = np.arange(12.0).reshape(6, 2)
    present, sums = cluster_sums(rows, np.array([5, 1, 5, 1, 9, 5]))
    assert present.tolist() == [1, 5, 9]
    assert sums.tolist() == [[8, 10], [14, 17], [8, 9]]


def test_draws_of_a_part_use_the_columns_of_its_units():
    one = means([3.0, 1.0, 4.0, 1.0, 5.0])
    frame, index = frame_of(one), np.array([4, 0])
    drawn = resample(frame, [Job(portion_of(frame, one.rows[index], index), (MEAN,))], draws=40, seed=6)[0][0]
    counted = weights(5, draws=40, seed=6)
    by_hand = [(3 * row[0] + 5 * row[4]) / (row[0] + row[4]) if row[0] + row[4] else np.nan for row in counted]
    assert np.allclose(drawn, by_hand, equal_nan=True)


def _output(**environment):
    command = [sys.executable, "-c", MADE_ON_ANY_MACHINE]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout
