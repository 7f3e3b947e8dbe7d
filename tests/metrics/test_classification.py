"""Precision, recall and F in all averages, against scikit-learn on random and on odd input."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer

from basanite.metrics.classification import (
    CLASS_COLUMNS,
    F_BETA,
    METRICS,
    PRECISION,
    RECALL,
    Labels,
    class_rows,
    confusion,
    number_classes,
    statistics,
    values,
)

CASES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcdx")), min_size=1, max_size=30)


def by_peer(truth, answers, undefined, beta):
    names = {"f1": 1.0, "f_beta": beta}
    found = {"accuracy": peer.accuracy_score(truth, answers)}
    for mean in ("macro", "micro", "weighted"):
        more = {"average": mean, "zero_division": undefined}
        found |= {f"{name}_{mean}": peer.fbeta_score(truth, answers, beta=b, **more) for name, b in names.items()}
        found[f"precision_{mean}"] = peer.precision_score(truth, answers, **more)
        found[f"recall_{mean}"] = peer.recall_score(truth, answers, **more)
    alone = len(set(truth)) == 1 or len(set(answers)) == 1  # the peer has 0 for the correlation of a constant
    return found | {
        "balanced_accuracy": peer.balanced_accuracy_score(truth, answers),
        "mcc": np.nan if alone else peer.matthews_corrcoef(truth, answers),
        "cohen_kappa": peer.cohen_kappa_score(truth, answers)
        if {*truth} | {*answers} != {*truth} & {*answers} or not alone
        else np.nan,
    }


@settings(max_examples=60, deadline=None)
@given(CASES, st.sampled_from([np.nan, 0.0, 1.0]), st.sampled_from([0.5, 1.0, 2.0]))
def test_all_means_are_those_of_scikit_learn(pairs, undefined, beta):
    truth, answers = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = by_peer(truth, answers, undefined, beta)
    found = values(truth, answers, beta=beta, undefined=undefined)
    if np.isnan(undefined) and not set(truth) & set(answers):
        # No class that weighs anything has a precision: undefined here, the plain mean of the others there.
        assert math.isnan(found.pop("precision_weighted"))
    assert found == pytest.approx({name: wanted[name] for name in found}, rel=1e-12, nan_ok=True)


def test_every_class_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, answers = rng.choice(list("abc"), 60), rng.choice(list("abcd"), 60)
    classes, block = number_classes(truth.tolist(), answers.tolist())
    wanted = peer.precision_recall_fscore_support(truth, answers, beta=2, labels=classes, zero_division=np.nan)
    for at, _ in enumerate(classes):
        _, rows = class_rows(block, at)
        found = [metric.bind(beta=2.0).of(rows) for metric in (PRECISION, RECALL, F_BETA)]
        assert found == pytest.approx([column[at] for column in wanted[:3]], rel=1e-12, nan_ok=True)
    assert confusion(block).tolist() == peer.confusion_matrix(truth, answers, labels=classes).tolist()


def test_nothing_over_nothing_is_undefined_and_never_0():
    _, block = number_classes(["a", "a", "b"], ["a", "a", "a"])
    _, never_given = class_rows(block, 1)
    assert math.isnan(PRECISION.of(never_given))
    assert RECALL.of(never_given) == 0.0
    assert math.isnan(values([], [])["f1_macro"])
    assert math.isnan(values([], [])["accuracy"])
    assert values(["a", "b"], ["a", "a"])["precision_macro"] == 0.5


def test_rows_of_a_class_are_its_columns_of_the_whole():
    rng = np.random.default_rng(1)
    block = Labels([""] * 50, rng.integers(0, 3, 50), rng.integers(0, 3, 50), 3)
    whole = statistics(block)
    for at in range(3):
        items, rows = class_rows(block, at)
        columns = whole[:, 2 + 3 * at : 5 + 3 * at]
        assert rows.tolist() == columns[items].tolist()
        assert not np.delete(columns, items, axis=0).any()
    assert CLASS_COLUMNS == ("hits", "answered", "true")


def test_classes_left_out_are_as_labels_of_scikit_learn_and_count_for_accuracy():
    rng = np.random.default_rng(2)
    truth, answers = rng.integers(0, 4, 80), rng.integers(0, 4, 80)
    asked = np.array([0, 2])
    number = np.array([0, -1, 1, -1])
    rows = statistics(Labels([""] * 80, number[truth], number[answers], 2, truth == answers))
    found = {metric.name: metric.bind(beta=2.0).of(rows) for metric in METRICS if metric.overall}
    for mean in ("macro", "micro", "weighted"):
        wanted = peer.f1_score(truth, answers, labels=asked, average=mean)
        assert found[f"f1_{mean}"] == pytest.approx(wanted, rel=1e-12)
    assert found["accuracy"] == peer.accuracy_score(truth, answers)
