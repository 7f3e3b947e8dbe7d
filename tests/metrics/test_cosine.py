"""FERM against its definition by pairs, its edge cases as ruled, and the properties it must have."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.labelled_features import clouds, cosines, labelled, plain_ferm

from basanite.errors import FeaturesError
from basanite.representation.measures import ferm
from basanite.representation.measures.results import (
    INTER_ZERO,
    NEGATIVE_FEATURES,
    NEGATIVE_INTER,
    NO_DIRECTION,
    OURS,
    SINGLETONS,
    UNSTABLE,
    ZERO_ROWS,
    Classes,
    different_classes_note,
)

FERM = ("ferm1", "ferm2", "ferm3", "ferm4")


def values(features, labels, **options):
    return {name: found.value for name, found in ferm.ferm(features, labels, **options).values.items()}


@settings(deadline=None, max_examples=60)
@given(labelled())
def test_closed_forms_are_the_definitions_by_pairs(case):
    features, labels = case
    assert values(features, labels) == pytest.approx(plain_ferm(features, labels), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int32])
def test_any_type_of_number_is_summed_in_float64(kind):
    features, labels = clouds(1)
    narrow = (features * 50).astype(kind)
    expected = plain_ferm(narrow.astype(np.float64), labels)
    assert values(narrow, labels) == pytest.approx(expected, rel=1e-11)


def test_each_class_has_its_means_its_ratio_and_its_nearest_rival():
    features, labels = clouds(2)
    found = ferm.ferm(features, labels).classes
    cos = cosines(features)
    for place, name in enumerate(found.names):
        own = labels == name
        inside = cos[np.ix_(own, own)][np.triu_indices(own.sum(), 1)].mean()
        others = {other: cos[np.ix_(own, labels == other)].mean() for other in range(5) if other != name}
        assert found.counts[place] == own.sum()
        assert found.intra[place] == pytest.approx(inside)
        assert found.inter[place] == pytest.approx(cos[np.ix_(own, ~own)].mean())
        assert found.ratio[place] == pytest.approx(inside / cos[np.ix_(own, ~own)].mean())
        assert found.names[found.rival[place]] == max(others, key=others.get)
        assert found.rival_cosine[place] == pytest.approx(max(others.values()))


def test_pooled_pairs_are_another_reading_that_agrees_when_classes_are_of_one_size():
    features, labels = clouds(3)
    cos, same = cosines(features), labels[:, None] == labels
    off = ~np.eye(len(labels), dtype=bool)
    expected = cos[same & off].mean() / cos[~same].mean()
    assert values(features, labels, weighting="pairs")["ferm2"] == pytest.approx(expected)
    even = np.repeat(np.arange(4), 30)
    assert values(features, even, weighting="pairs")["ferm2"] == pytest.approx(values(features, even)["ferm2"])


@settings(deadline=None, max_examples=30)
@given(labelled(), st.integers(0, 1000))
def test_order_names_scale_of_a_row_and_rotation_change_nothing(case, seed):
    features, labels = case
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    turned, _ = np.linalg.qr(rng.normal(size=(features.shape[1],) * 2))
    scaled = features * 10 ** rng.uniform(-3, 3, (len(labels), 1))
    named = [("class", int(label) * 7 - 3) for label in labels]
    expected = pytest.approx(values(features, labels), rel=1e-7, abs=1e-9)
    assert values(features[order], labels[order]) == expected
    assert values(features, named) == expected
    assert values(scaled, labels) == expected
    assert values(features @ turned, labels) == expected


@settings(deadline=None, max_examples=40)
@given(labelled())
def test_each_later_ferm_is_no_larger_where_centroids_do_not_oppose(case):
    features, labels = case  # never negative, so no cosine is
    found = values(features, labels)
    assert found["ferm2"] >= found["ferm3"] * (1 - 1e-9)
    assert found["ferm3"] >= found["ferm4"] * (1 - 1e-9)


def test_on_a_simplex_every_ferm_is_minus_the_number_of_other_classes():
    classes = 5
    corners = np.eye(classes) - 1 / classes
    features, labels = np.repeat(corners, 3, axis=0), np.repeat(np.arange(classes), 3)
    found = ferm.ferm(features, labels).values
    for name in FERM:
        assert found[name].value == pytest.approx(-(classes - 1))
        assert NEGATIVE_INTER in found[name].flags


@settings(deadline=None, max_examples=40)
@given(labelled(positive=False))
def test_the_companions_are_bounded_on_centred_features_and_labelled_as_ours(case):
    features, labels = case
    found = ferm.ferm(features - features.mean(axis=0), labels).values
    assert -2 <= found["gap"].value <= 2
    assert OURS in found["gap"].flags
    assert OURS in found["collapse"].flags
    assert NEGATIVE_FEATURES not in found["gap"].flags


def test_collapsed_classes_have_collapse_0_and_no_structure_gives_about_1():
    corners = np.repeat(np.eye(3), 4, axis=0)
    labels = np.repeat(np.arange(3), 4)
    assert ferm.collapse(corners, labels) == pytest.approx(0)
    assert ferm.gap(corners, labels) == pytest.approx(1)
    noise = np.abs(np.random.default_rng(0).normal(size=(900, 20)))
    assert ferm.collapse(noise, np.arange(900) % 3) == pytest.approx(1, abs=0.01)


def test_a_zero_row_has_cosine_0_with_everything_and_still_counts():
    features, labels = clouds(4)
    features[[3, 10]] = 0
    found = ferm.ferm(features, labels)
    assert {name: item.value for name, item in found.values.items()} == pytest.approx(plain_ferm(features, labels))
    assert ZERO_ROWS in found.values["ferm1"].flags
    assert found.classes.zeros.sum() == 2


def test_a_class_whose_unit_vectors_cancel_has_no_direction_and_voids_ferm1_by_name():
    features = np.array([[1.0, 0], [-1, 0], [0, 1], [0.1, 1], [1, 1], [1, 1.2]])
    found = ferm.ferm(features, ["lost", "lost", "a", "a", "b", "b"])
    assert np.isnan(found.values["ferm1"].value)
    assert {INTER_ZERO, NO_DIRECTION} <= set(found.values["ferm1"].flags)
    assert "'lost'" in found.values["ferm1"].notes[0]
    assert np.isfinite(found.values["ferm1"].parts["median_ratio"])
    assert found.values["ferm4"].value == pytest.approx(plain_ferm(features, np.array([0, 0, 1, 1, 2, 2]))["ferm4"])
    assert found.classes.directed.tolist() == [True, True, False]


def test_a_denominator_of_zero_is_undefined_and_a_tiny_one_is_flagged_with_its_parts():
    apart = ferm.ferm(np.repeat(np.eye(2), 2, axis=0), [0, 0, 1, 1]).values
    assert np.isnan(apart["ferm2"].value)
    assert INTER_ZERO in apart["ferm2"].flags
    nearly = ferm.ferm(np.array([[1, 0.001], [1, 0], [0, 1], [0, 1]]), [0, 0, 1, 1]).values["ferm2"]
    assert nearly.value == pytest.approx(nearly.parts["intra"] / nearly.parts["inter"])
    assert 0 < nearly.parts["inter"] < 0.01
    assert UNSTABLE in nearly.flags


def test_classes_of_one_row_are_left_out_of_the_numerator_or_count_zero_if_asked():
    features, labels = clouds(5, rows=40)
    labels[labels == 4] = 3
    labels[7] = 9
    omitted, zero = ferm.ferm(features, labels), ferm.ferm(features, labels, singletons="zero")
    assert SINGLETONS in omitted.values["ferm1"].flags
    for found, plain in ((omitted, plain_ferm(features, labels)), (zero, plain_ferm(features, labels, zero=True))):
        assert {name: item.value for name, item in found.values.items()} == pytest.approx(plain)
    assert np.isnan(omitted.classes.intra[-1])


def test_only_counting_zeros_dips_where_each_new_class_has_one_row():
    """The shift experiment in small: target classes come in with one row each, then with more."""
    rng = np.random.default_rng(0)
    source, target = rng.random((20, 30)) ** 3, rng.random((10, 30)) ** 0.8

    def level(rows, singletons):
        labels = np.concatenate([np.repeat(np.arange(20), 20), 20 + np.repeat(np.arange(10), rows)])
        centres = np.concatenate([source, target])
        features = centres[labels] + 0.1 * np.random.default_rng(1).random((len(labels), 30))
        return ferm.ferm1(features, labels, singletons=singletons)

    zero, omit = ([level(rows, kind) for rows in (0, 1, 5, 20)] for kind in ("zero", "omit"))
    assert zero[1] < zero[2]
    assert all(first > second for first, second in pairwise(omit))


def test_without_any_pair_inside_a_class_all_is_undefined():
    found = ferm.ferm(np.eye(3) + 0.1, ["a", "b", "c"]).values
    assert all(np.isnan(found[name].value) for name in FERM)
    assert all("undefined" in found[name].flags for name in FERM)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf], ids=["nan", "inf", "minus-inf"])
def test_a_bad_number_is_refused_by_its_row(bad):
    features, labels = clouds(6)
    features[[17, 90], 2] = bad
    with pytest.raises(FeaturesError, match="rows 17, 90"):
        ferm.ferm(features, labels)


@pytest.mark.parametrize(
    ("features", "labels", "says"),
    [
        (np.ones((3, 2)), [1, 1, 1], "two classes"),
        (np.ones((3, 2)), [1, 2], "2 labels for 3 rows"),
        (np.ones(3), [1, 2, 3], "table"),
        (np.ones((2, 0)), [1, 2], "table"),
        (np.ones((2, 2)), [1, None], "No label in row 1"),
        (np.ones((2, 2)), np.array([1, np.nan]), "No label"),
        (np.ones((2, 2)), [[1], [2]], "cannot name a class"),
        (np.ones((2, 2)), np.ones((2, 2)), "one for each row"),
    ],
    ids=["one-class", "too-few", "flat", "no-dimensions", "none", "nan", "lists", "table-of-labels"],
)
def test_what_cannot_be_measured_is_refused_in_words(features, labels, says):
    with pytest.raises(FeaturesError, match=says):
        ferm.ferm(features, labels)


def test_negative_features_are_warned_of_before_ferm():
    features, labels = clouds(7)
    assert NEGATIVE_FEATURES not in ferm.ferm(features, labels).values["ferm1"].flags
    assert NEGATIVE_FEATURES in ferm.ferm(features - 1, labels).values["ferm1"].flags


def test_measures_that_move_with_the_number_of_classes_are_not_compared_without_a_word():
    assert "10, 20 and 47" in different_classes_note("h_score", [47, 10, 20])
    assert different_classes_note("h_score", [10, 10]) is None
    assert different_classes_note("ferm1", [10, 20]) is None


def test_huge_and_tiny_rows_keep_their_direction():
    features, labels = clouds(8)
    expected = values(features, labels)
    for scale in (1e200, 1e-200, 1e-310):
        scaled = features.copy()
        scaled[::3] *= scale
        assert values(scaled, labels) == pytest.approx(expected, rel=1e-9)


def test_every_row_has_its_own_and_best_rival_cosine_and_the_worst_come_first():
    features, labels = clouds(9)
    features[5] = features[labels != labels[5]][0]
    found = ferm.samples(features, labels)
    cos = cosines(features)
    for row, label in enumerate(labels):
        own = np.flatnonzero((labels == label) & (np.arange(len(labels)) != row))
        rivals = {other: cos[row, labels == other].mean() for other in range(5) if other != label}
        assert found.own_cosine[row] == pytest.approx(cos[row, own].mean())
        assert found.rival_cosine[row] == pytest.approx(max(rivals.values()))
        assert found.rival[row] == max(rivals, key=rivals.get)
    assert 5 in found.worst(10)


def test_labels_are_any_hashable_and_1_is_not_the_string_1():
    assert Classes.of([1, "1", 1, ("a", 2)]).counts.tolist() == [2, 1, 1]
    assert Classes.of([2**70, 1, 1]).counts.sum() == 3
    assert Classes.of(["a\0", "a"]).names == ("a", "a\0")
    assert Classes.of(np.array([5, -3, 5])).names == (-3, 5)
