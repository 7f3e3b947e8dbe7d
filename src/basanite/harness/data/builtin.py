"""Real data sets that come with scikit-learn, so that nothing has to be downloaded (H-3)."""

from __future__ import annotations

import numpy as np

from basanite.harness.data.dataset import Dataset


def digits() -> Dataset:
    """1,797 handwritten digits of 8 x 8 pixels; ten targets, one against the rest."""
    from sklearn.datasets import load_digits

    found = load_digits()
    values = found.target.astype(np.int64)
    targets = {str(digit): (values == digit).astype(np.float64) for digit in range(10)}
    return Dataset("digits", found.data.astype(np.float64), targets, first_labels=values)


def breast_cancer() -> Dataset:
    """569 tumours described by 30 numbers; one target, whether it is malignant."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    malignant = (found.target == 0).astype(np.int64)
    targets = {"malignant": malignant.astype(np.float64)}
    return Dataset("breast_cancer", found.data.astype(np.float64), targets, first_labels=malignant)


def diabetes() -> Dataset:
    """442 patients described by 10 numbers; one target, the progress of the illness after a year."""
    from sklearn.datasets import load_diabetes

    found = load_diabetes()
    return Dataset("diabetes", found.data.astype(np.float64), {"progression": found.target.astype(np.float64)})
