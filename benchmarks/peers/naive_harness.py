"""The text protocol as one would write it with scikit-learn: for every rating and run, everything from the start.

Prints JSON: the root mean squared error of every run, rating and fold, and the CPU seconds of each stage. Splits and
seeds are read from the folder, so that its values can be held against ours.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

RUNS = ("1", *(f"{condition}{team}" for condition in range(2, 7) for team in "ab"))
STAGES = defaultdict(float)


@contextmanager
def stage(name):
    """Count the CPU seconds of what happens inside."""
    start = time.process_time()
    yield
    STAGES[name] += time.process_time() - start


def vectorised(train, test, size, binary):
    """Counts of the most frequent words; ties go to the earlier word."""
    vectorizer = CountVectorizer(binary=binary)
    first = vectorizer.fit_transform(train)
    counts = CountVectorizer().fit_transform(train) if binary else first
    totals = np.asarray(counts.sum(axis=0)).ravel()
    columns = np.argsort(-totals, kind="stable")[:size]
    return first[:, columns].astype(float), vectorizer.transform(test)[:, columns].astype(float)


class DenoisingAutoencoder:
    """Marginalised denoising layers with tanh, all rows at once."""

    def __init__(self, layers, noise):
        self.layers, self.noise, self.weights = layers, noise, []

    def fit(self, rows):
        """Learn layer after layer."""
        for _ in range(self.layers):
            joined = np.hstack([rows, np.ones((len(rows), 1))])
            moments = joined.T @ joined
            keep = np.append(np.full(rows.shape[1], 1 - self.noise), 1)
            corrupted = moments * np.outer(keep, keep)
            np.fill_diagonal(corrupted, keep * np.diag(moments))
            corrupted += 1e-5 * len(rows) * np.eye(len(moments))
            self.weights.append(np.linalg.solve(corrupted, (moments * keep)[:-1].T).T)
            rows = np.tanh(joined @ self.weights[-1].T)
        return self

    def transform(self, rows):
        """The codes of the top layer."""
        for weights in self.weights:
            rows = np.tanh(np.hstack([rows, np.ones((len(rows), 1))]) @ weights.T)
        return rows


def represented(run, train, test, settings):
    """The features or codes of one run."""
    with stage("preprocessing"):
        size, binary = (5_000, False) if run[0] in "12" else (settings["words"], run[1] == "a")
        train, test = vectorised(train, test, size, binary)
    if run[0] in "56":
        with stage("learner"):
            noise = settings["noises"]["ab".index(run[1])]
            train, test = train.toarray(), test.toarray()
            learner = DenoisingAutoencoder(1 if run[0] == "5" else 3, noise).fit(train)
            train, test = learner.transform(train), learner.transform(test)
    return train, test


def models(run, settings, seed):
    """The name of a run's classifier, and one for each grid point."""
    if run[0] in "13":
        made = [
            make_pipeline(LatentDirichletAllocation(topics, random_state=seed), Ridge(alpha=10.0))
            for topics in settings["topics"]
        ]
        return "lda", made
    if run[1] == "a":
        return "logistic", [LogisticRegression(C=cost, tol=1e-8, max_iter=10_000) for cost in settings["costs"]]
    return "svr", [SVR(kernel="linear", C=cost) for cost in settings["costs"]]


def predictions(name, model, rows):
    """Ratings: the expected value where there is a posterior; inside 1 to 5."""
    found = model.predict_proba(rows) @ model.classes_ if name == "logistic" else model.predict(rows)
    return np.clip(found, 1, 5)


def error(found, truth):
    """Root mean squared error."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def folds_scored(name, grid, train, test, values, truth, folds):
    """For every fold: fit every grid point, choose on the other rows, predict the test rows."""
    found = []
    for fold in folds:
        others = np.setdiff1d(np.arange(len(values)), fold)
        errors = []
        for model in grid:
            with stage(f"{name} fit"):
                model.fit(train[fold], values[fold])
            with stage(f"{name} validate"):
                errors.append(error(predictions(name, model, train[others]), values[others]))
        with stage(f"{name} test"):
            found.append(error(predictions(name, grid[int(np.argmin(errors))], test), truth))
    return found


def run_of(run, target, table, folder, settings):
    """One run of one rating, from texts to the error of every fold."""
    with np.load(folder / f"{target}.npz") as held:
        split = {name: held[name] for name in held.files}
    parts = [split[name] for name in sorted(split) if name.startswith("fold_")]
    seen, test = np.concatenate([*parts, split["validation"]]), split["test"]
    ends = np.cumsum([0, *map(len, parts)])
    texts, values = table["text"].to_numpy(), table[target].to_numpy(float)
    rows, test_rows = represented(run, texts[seen], texts[test], settings)
    name, grid = models(run, settings, settings["seeds"][f"{run}/{target}"])
    folds = [np.arange(start, end) for start, end in pairwise(ends)]
    return folds_scored(name, grid, rows, test_rows, values[seen], values[test], folds)


def main(folder):
    """All runs of all ratings."""
    settings = json.loads((folder / "parameters.json").read_text())
    settings["seeds"] = json.loads((folder / "seeds.json").read_text())
    table = pd.read_csv(folder / "reviews.csv")
    targets = ("overall", "food", "ambiance", "service", "noise")
    errors = {f"{run}/{target}": run_of(run, target, table, folder, settings) for target in targets for run in RUNS}
    print(json.dumps({"errors": errors, "stages": STAGES}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
