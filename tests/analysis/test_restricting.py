"""Scores over the units of one level are those of the breakdown, number by number."""

import numpy as np
import pytest

from basanite import score
from basanite.analysis.restriction import NothingLeftError, restrict_scores
from basanite.analysis.results import Design
from basanite.spine import analyse

DESIGN = Design(draws=50)


@pytest.fixture(scope="module")
def scores():
    """A run of the retrieval example, whose queries have kinds."""
    from tests.cli.running import EXAMPLE

    found = score(
        "clir",
        reference=EXAMPLE / "key",
        submission=EXAMPLE / "Alpha.tgz",
        metadata=[EXAMPLE / "metadata" / "queries.tsv", EXAMPLE / "metadata" / "documents.tsv"],
        draws=50,
    )
    return found.scores


def factors(scores):
    table = scores.tables[scores.primary]
    return [*table.factors, *table.levels]


@pytest.mark.req("M20")
def test_what_is_left_has_the_values_of_its_level(scores):
    whole = analyse(scores, DESIGN)
    compared = 0
    for factor in factors(scores):
        for level, values in whole.breakdowns[factor].items():
            part = analyse(restrict_scores(scores, factor, level), DESIGN)
            for name, value in values.items():
                np.testing.assert_equal(part.values[name].value, value.value)
                compared += 1
    assert compared > 4


def test_a_level_that_no_unit_has_is_refused(scores):
    with pytest.raises(NothingLeftError, match="nowhere"):
        restrict_scores(scores, "openness", "nowhere")


def test_what_is_drawn_anew_is_drawn_for_the_units_that_are_left(scores):
    from dataclasses import replace

    table = scores.tables[scores.primary]
    kinds = np.array(["a", "b"] * len(table.units))[: len(table.units)]
    drawn = replace(table, factors={"kind": kinds}, redrawn=lambda seed: lambda draws: np.stack([table.rows] * draws))
    only = replace(scores, tables={scores.primary: drawn}, metrics=(scores.metric(scores.primary),))
    part = restrict_scores(only, "kind", "b").tables[scores.primary]
    assert part.units == table.units[1::2]
    np.testing.assert_array_equal(part.redrawn(0)(3)[2], part.rows)
