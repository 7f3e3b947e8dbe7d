"""Charts of several systems: each system's scores are its own scale, so no chart lays one system's upon another's."""

import numpy as np
import pytest
from tests.tasks.folders import answer_files, key_files, written

import basanite
from basanite import spine
from basanite.figures import Chart

RNG = np.random.default_rng(11)
RELEVANT = RNG.random((20, 30)) < 0.2
ALPHA, BETA = (RNG.integers(0, 30_000, RELEVANT.shape) + 20_000 * RELEVANT for _ in range(2))


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory):
    """The same two systems twice; the second time, Beta writes every confidence twice as high."""
    folder = tmp_path_factory.mktemp("compared")
    key = written(folder / "key", key_files(RELEVANT))
    alpha = written(folder / "Alpha", answer_files(ALPHA >= 25_000, ALPHA))
    betas = [written(folder / str(n) / "Beta", answer_files(BETA >= 25_000, n * BETA)) for n in (1, 2)]
    return [basanite.compare("clir", submissions=[alpha, beta], reference=key, draws=20, folds=2) for beta in betas]


def charts(comparison):
    figures = spine.find_task("clir").compared_figures(comparison)
    return {figure.title: figure for figure in figures if isinstance(figure, Chart)}


def shown(chart):
    """What is drawn: the columns on the axes and the one that tells series apart, and the marks."""
    columns = [chart.data.columns.index(name) for name in (chart.x.column, chart.y.column, chart.series) if name]
    return [tuple(row[at] for at in columns) for row in chart.data.rows], chart.marks


@pytest.mark.req("M32", case="bad")
def test_a_chart_of_several_systems_does_not_change_with_the_scale_of_ones_scores(comparisons):
    one, two = map(charts, comparisons)
    assert list(one) == list(two)
    together = [title for title in one if not title.endswith(("Alpha", "Beta"))]
    assert together
    for title in together:
        assert shown(one[title]) == shown(two[title]), title
        assert "threshold" not in (one[title].x.column, one[title].y.column)
        assert {"Alpha", "Beta"} <= {str(cell) for row in one[title].data.rows for cell in row}


@pytest.mark.req("M32", case="good")
def test_a_chart_with_thresholds_shows_one_system_alone(comparisons):
    one, two = map(charts, comparisons)
    over_thresholds = [title for title, chart in one.items() if "threshold" in (chart.x.column, chart.y.column)]
    assert {title.rsplit(" ", 1)[1] for title in over_thresholds} == {"Alpha", "Beta"}
    for title in over_thresholds:
        assert (shown(one[title]) == shown(two[title])) == title.endswith("Alpha"), title


@pytest.mark.req("M32", case="bad")
def test_no_difference_between_systems_comes_from_the_scale_of_their_scores(comparisons):
    one, two = comparisons
    assert one.differences == two.differences
    assert one.rankings == two.rankings
