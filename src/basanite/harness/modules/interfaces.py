"""What a module must offer, by role. scikit-learn estimators and plain functions are adapted to this (`adapters`).

    items --Preprocessor--> features --Learner--> codes --Classifier--> scores

Rows are items in the order in which they were given. Nothing here sees a test label; a preprocessor and a learner see
no label at all (H-17). Modules are frozen by their code and parameters, so they are made again from parameters for
every fit: `make(parameters, seed)`. What `make` calls has one named argument for each parameter of the module, however
many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Role = Literal["features", "preprocessor", "strong", "linear", "learner"]
"""H-5: the evaluation team's feature extractor, a team's preprocessor, the strong shallow classifier ("SOTA"), a
team's simple linear classifier ("SLC"), and a team's unsupervised learner, which is deep, and shallow in its one-layer
mode."""
Form = Literal["items", "counts", "nonneg", "dense", "sequence", "histograms", "any"]
"""What a module needs and gives (A17): raw items, word counts, numbers that are never negative, any numbers, one row of
numbers for each window of an item (`Sequences`), or shares of a histogram by window, whose sum is the histogram (A29).
A module of which it is not known what it takes needs "any"."""

Features: TypeAlias = Any
"""A matrix `[rows, columns]`: a NumPy array or a SciPy CSR matrix."""
Parameters: TypeAlias = Mapping[str, Any]
Scores: TypeAlias = NDArray[np.float64]


class Preprocessor(Protocol):
    """Turns items into features; fitted once on training and validation rows without labels, never on test (A25)."""

    def fit(self, items: Sequence[Any]) -> None:
        """Learn what there is to learn: a vocabulary, means, a codebook."""

    def transform(self, items: Sequence[Any]) -> Features:
        """The features of some items, whatever others are in the batch."""


class Learner(Protocol):
    """Learns a representation without labels, layer by layer with one algorithm (H-10)."""

    layers: int
    """How many layers there are: at least three for a deep one, one in the one-layer mode."""

    def fit(self, features: Features) -> None:
        """Learn from all training and validation rows, unlabelled (H-17)."""

    def transform(self, features: Features, layer: int | None = None) -> Features:
        """The codes of one layer, 1 to `layers` (None: the representation that the classifier gets)."""

    def states(self) -> Sequence[Mapping[str, NDArray[Any]]]:
        """The weights of every layer by name, to see that it learns, and that nothing learns during test (A27)."""


class Classifier(Protocol):
    """Learns one target from one fold; its parameters are chosen on the other folds and the validation rows (H-16)."""

    def grid(self) -> Sequence[Parameters]:
        """The parameters to choose from, simplest first: ties go to the earlier (A23)."""

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""

    def score(self, features: Features) -> Scores:
        """A score for every row: a confidence (any finite number) or a rating."""


class ManyAtOnce(Protocol):
    """A classifier that shares work between folds and grid points; results must be those of `fit` and `score`."""

    def fit_many(
        self, features: Features, folds: Sequence[NDArray[np.int64]], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> Any:
        """Train on every fold (rows of `features`) with every parameters at once; gives a state of its own."""

    def score_many(self, state: Any, features: Features) -> Scores:
        """`float64[folds, grid, rows]` from that state; called in blocks of rows."""

    # optional: score_chosen(state, features, chosen: Sequence[int]) -> float64[folds, rows], by the place in the grid
    # that was chosen for each fold, where the others need not be worked out


@dataclass(frozen=True)
class Module:
    """A module as it is registered (`basanite.modules`): how to make one, and what must be known before it runs."""

    name: str
    role: Role
    summary: str
    make: Any
    """`make(parameters, seed)` gives a Preprocessor, Learner or Classifier."""
    needs: Form = "dense"
    gives: Form = "dense"
    scale: Literal["margin", "probability", "rating"] = "margin"
    """What the scores of a classifier are (A15)."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The parameters a plan may set, as JSON Schema; one that selects the architecture is not among them (H-11)."""
    version: str = "1"
    """Part of every key: a change of what the module computes is a change of its version."""
    code: tuple[str, ...] = ()
    """The files of its source, for the freeze (H-11)."""
    declares: Mapping[str, Any] = field(default_factory=dict)
    """What must be known though no rule forbids it, by name: patches that a learner samples inside, for one (A33)."""
    also: tuple[Role, ...] = ()
    """Further roles in which it may stand."""
    greedy: bool = False
    """Of a learner: its layers are trained one after the other, so that the one-layer mode is the first layer of the
    deep one and need not be trained again (H-5). Otherwise `make(…).shallow()` gives an untrained one-layer learner."""
    random: bool = True
    """Whether the seed matters; work of a module without dice is shared by all replications and runs (H-19)."""
    fixed: bool = False
    """Of a preprocessor: whether it learns nothing, so that items are turned into features once for all splits."""
    prepare: Any = None
    """Of a preprocessor, optional: a module-level function `prepare(items)` that does what can be done with each item
    alone (cut texts into words), once for all splits and modules that name the same function. It gives a mapping that
    the store can keep: arrays, CSR matrices, plain data."""
    prepared: Any = None
    """`prepared(mapping)` gives that back as something with a length that is indexed by rows; `fit` and `transform` get
    rows of it instead of items."""
