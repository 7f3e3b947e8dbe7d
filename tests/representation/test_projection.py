"""Two dimensions for the eye: seeded, scaled to 0..1, few enough rows, each class among them."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from tests.representation.made import data

from basanite.errors import FeaturesError
from basanite.representation.measurement import Plan, run
from basanite.representation.measures.results import Classes
from basanite.representation.projection import project
from basanite.representation.report import OTHERS, projection_chart


@pytest.mark.parametrize("method", ["tsne", "pca"])
def test_points_fill_0_to_1_and_the_seed_decides_them(method):
    made = data(classes=3, rows=20)
    first, again = (project(made.features, made.classes, method=method, seed=4) for _ in range(2))
    assert (first.points == again.points).all()
    assert first.points.min(axis=0).tolist() == [0.0, 0.0]
    assert first.points.max(axis=0).tolist() == [1.0, 1.0]


def test_tsne_depends_on_the_seed_and_keeps_well_formed_classes_together():
    made = data(classes=3, rows=25, spread=0.1)
    found = project(made.features, made.classes, seed=0)
    centres = np.array([found.points[made.classes.codes == place].mean(axis=0) for place in range(3)])
    nearest = np.linalg.norm(found.points[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == made.classes.codes).mean() > 0.95


def test_principal_components_are_those_of_scikit_learn_up_to_scale_and_sign():
    made = data(classes=3, rows=20)
    found = project(made.features, made.classes, method="pca").points
    wanted = PCA(2).fit_transform(made.features)
    for axis in (0, 1):
        assert abs(np.corrcoef(found[:, axis], wanted[:, axis])[0, 1]) == pytest.approx(1.0)


def test_of_many_rows_a_part_of_each_class_is_drawn():
    labels = np.array([0] * 900 + [1] * 90 + [2] * 10)
    table = np.random.default_rng(0).random((1000, 4))
    found = project(table, Classes.of(labels), method="pca", most=100)
    assert np.bincount(labels[found.rows]).tolist() == [90, 9, 1]


def test_rows_that_do_not_differ_stand_in_the_middle():
    found = project(np.ones((6, 3)), Classes.of([0, 0, 0, 1, 1, 1]), method="pca")
    assert found.points.tolist() == [[0.5, 0.5]] * 6


def test_an_unknown_projection_is_answered_with_the_known_ones():
    with pytest.raises(FeaturesError, match="tsne or pca"):
        project(np.ones((4, 2)), Classes.of([0, 0, 1, 1]), method="umap")


def test_the_chart_names_classes_and_puts_many_of_them_together():
    few = run(data(classes=3, rows=8), Plan.of(draws=0, names=["gap"], projection="pca"))
    chart = projection_chart(few)
    assert {row[0] for row in chart.data.rows} == {"0", "1", "2"}
    many = run(data(classes=20, rows=3), Plan.of(draws=0, names=["gap"], projection="pca"))
    names = {row[0] for row in projection_chart(many).data.rows}
    assert OTHERS in names
    assert len(names) == 12
