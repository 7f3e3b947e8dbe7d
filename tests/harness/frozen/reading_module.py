"""Preprocessors that read files beside the rows given: one in secret, one as it declares."""

from pathlib import Path

import numpy as np

from basanite.harness.modules.interfaces import Module


class Reads:
    """Tries to read what it was not given."""

    paths = ("/etc/hostname", "/srv/outside.csv")

    def fit(self, items):
        for path in self.paths:
            try:
                Path(path).read_text()
            except OSError:
                continue

    def transform(self, items):
        return np.asarray(items, np.float64)


class Declares(Reads):
    """Reads nothing but what it says."""

    paths = ()


READS = Module("reads", "preprocessor", "reads in secret", lambda p, seed: Reads(), needs="items", random=False)
DECLARES = Module(
    "declares",
    "preprocessor",
    "says what it reads",
    lambda p, seed: Declares(),
    needs="items",
    random=False,
    declares={"files": ["declared.txt"]},
)
