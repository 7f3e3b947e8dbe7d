"""PyTorch agrees with NumPy: to 1e-9 in float64, and within the stated bounds on a card."""

import numpy as np
import pytest
from tests.metrics.labelled_features import clouds

from basanite import registry
from basanite.errors import FeaturesError
from basanite.representation.measures.all_measures import Options, measure
from basanite.representation.measures.results import Classes

torch = pytest.importorskip("torch")

SHAPES = {"few": (300, 6, 5), "large-classes": (2600, 5, 2), "many": (400, 8, 90)}
LINEAR = (
    "ferm1",
    "ferm2",
    "ferm3",
    "ferm4",
    "gap",
    "collapse",
    "calinski_harabasz",
    "rs",
    "c_root_k",
    "davies_bouldin",
)


def backend(device="cpu", **options):
    return registry.load("backends", "torch")(device=device, **options)


def case(shape, *, seed=0):
    rows, dimensions, classes = SHAPES[shape]
    return clouds(seed, rows=rows, dimensions=dimensions, classes=classes)


def values(features, labels, *, precision="float64", **more):
    found = measure(features, labels, options=Options(precision=precision), **more).values
    return {name: item.value for name, item in found.items()}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_torch_on_the_cpu_agrees_with_numpy_to_1e_9(shape):
    features, labels = case(shape)
    assert values(features, labels, backend=backend()) == pytest.approx(values(features, labels), rel=1e-9)


@pytest.mark.parametrize("shape", list(SHAPES))
def test_torch_in_float32_agrees_to_1e_5_and_dunn_exactly(shape):
    features, labels = case(shape)
    narrow = features.astype(np.float32)
    found = values(narrow, labels, precision="float32", backend=backend())
    expected = values(narrow, labels)
    assert found == pytest.approx(expected, rel=1e-5)
    assert found["dunn"] == pytest.approx(expected["dunn"], rel=1e-12)


def test_figures_that_never_leave_the_device_as_matrices_are_the_same():
    features, labels = case("few")
    found = backend().linear_values(features, Classes.of(labels))
    assert found == pytest.approx({name: values(features, labels)[name] for name in LINEAR}, rel=1e-9)


def test_zero_rows_are_counted_and_bad_numbers_named_by_row():
    features, labels = case("few")
    features[[3, 40]] = 0
    assert values(features, labels, backend=backend()) == pytest.approx(values(features, labels), rel=1e-9)
    features[[7, 260], 1] = np.nan, np.inf
    for measured in (backend().linear_pass, backend().linear_values):
        with pytest.raises(FeaturesError, match="rows 7, 260"):
            measured(features, Classes.of(labels))


def test_tensors_and_integers_are_taken_as_they_are():
    features, labels = case("few")
    whole = (features * 100).astype(np.int32)
    expected = values(whole.astype(np.float64), labels)
    assert values(whole, labels, backend=backend()) == pytest.approx(expected, rel=1e-9)
    tensor = torch.from_numpy(features[np.argsort(labels, kind="stable")])
    found = backend().linear_pass(tensor, Classes.of(np.sort(labels)))
    assert found.unit == pytest.approx(measure(features, labels, names=["rs"]).sums.unit)


def test_duplicates_across_classes_give_dunn_0():
    features, labels = case("few")
    features[labels == 1] = features[labels == 0][0]
    for precision in ("float32", "float64"):
        assert values(features, labels, precision=precision, backend=backend())["dunn"] == 0


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_scale_of_all_features_changes_no_value(scale):
    features, labels = case("few")
    expected = values(features, labels)
    assert values(features * scale, labels, precision="float32", backend=backend()) == pytest.approx(expected, rel=1e-5)


def collapsed(kind, *, large):
    """Classes that are points, or nearly, in several tiles and at a scale where rounding of squares is above 1."""
    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1, 2], 500 if large else 20)
    centres = rng.random((3, 7)) * (1e10 if kind == "far" else 1.0)
    noise = {"points": 0.0, "nearly": 1e-4, "far": 1e3}[kind] * rng.random((len(labels), 7))
    return (centres[labels] + noise).astype(np.float32), labels


def check_collapsed_classes(device, kind, **options):
    for large in (False, True):
        features, labels = collapsed(kind, large=large)
        away = np.linalg.norm(features[:, None].astype(float) - features, axis=2)
        same = labels[:, None] == labels
        expected = np.inf if kind == "points" else away[~same].min() / away[same].max()
        for precision in ("float32", "float64"):
            found = values(features, labels, precision=precision, backend=backend(device, **options))
            assert found["dunn"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["points", "nearly", "far"])
def test_collapsed_classes_have_their_exact_dunn(kind):
    check_collapsed_classes("cpu", kind)


@pytest.fixture
def card():
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA card")
    return "cuda"


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "plain"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_card_agrees_with_numpy_within_1e_4(card, shape, fused):
    features, labels = case(shape)
    narrow = features.astype(np.float32)
    found = values(narrow, labels, precision="float32", backend=backend(card, fused=fused))
    expected = values(narrow, labels)
    assert found == pytest.approx(expected, rel=1e-4)
    assert found["dunn"] == pytest.approx(expected["dunn"], rel=1e-9)
    assert {name: found[name] for name in LINEAR} == pytest.approx({name: expected[name] for name in LINEAR}, rel=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_card_agrees_with_numpy_to_1e_9_in_float64(card, shape):
    features, labels = case(shape)
    assert values(features, labels, backend=backend(card)) == pytest.approx(values(features, labels), rel=1e-9)


@pytest.mark.gpu
def test_figures_from_a_card_are_the_same_with_zero_and_tiny_rows(card):
    features, labels = case("few")
    features[5], features[6] = 0, features[6] * 1e-25
    narrow = features.astype(np.float32)
    found = backend(card).linear_values(narrow, Classes.of(labels))
    assert found == pytest.approx({name: values(narrow, labels)[name] for name in LINEAR}, rel=1e-5)


@pytest.mark.gpu
def test_a_wide_table_on_a_card_keeps_its_exact_extremes(card):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 20, 3000)
    features = (rng.random((20, 200))[labels] + rng.random((3000, 200))).astype(np.float32)
    found, expected = (
        values(features, labels, precision=precision, backend=chosen)
        for precision, chosen in (("float32", backend(card)), ("float64", None))
    )
    assert found["dunn"] == pytest.approx(expected["dunn"], rel=1e-9)
    assert found["silhouette"] == pytest.approx(expected["silhouette"], rel=1e-4, abs=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "plain"])
@pytest.mark.parametrize("kind", ["points", "nearly", "far"])
def test_collapsed_classes_have_their_exact_dunn_on_a_card(card, kind, fused):
    check_collapsed_classes(card, kind, fused=fused)
