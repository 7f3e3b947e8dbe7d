"""scikit-learn estimators and plain functions as modules, by their dotted path: `sklearn.decomposition:PCA`.

This runs whatever Python finds at that path, in this process: it is for plans that you wrote yourself. A stranger's
system is driven through files, in a sandbox (H-12, X-5).

A transformer can stand as preprocessor or as a learner of one layer; a classifier or regressor as strong or linear
classifier. Parameters are those of the estimator; `grid` lists the values to choose from. A function of one argument
turns items into features; one of three, `function(rows, target, new_rows)`, gives the scores of the new rows.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError, UnknownNameError
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores

Shape = Literal["transformer", "classifier", "extraction", "prediction"]


def adapt(found: Any, name: str) -> Module:
    """The module that an estimator class or a function makes; `name` is its dotted path.

    >>> from sklearn.decomposition import PCA
    >>> adapt(PCA, "sklearn.decomposition:PCA").role
    'preprocessor'
    """
    shape = _shape(found, name)
    classifies = shape in ("classifier", "prediction")
    return Module(
        name=name,
        role="strong" if classifies else "preprocessor",
        also=("linear",) if classifies else ("features", "learner"),
        summary=(inspect.getdoc(found) or name).partition("\n")[0],
        make=partial(_MAKERS[shape], found),
        needs="dense" if classifies else "any",
        # Text vectorisers of scikit-learn give counts; of others it is not known, so any numbers.
        gives="counts" if getattr(found, "__name__", "") in ("CountVectorizer", "HashingVectorizer") else "dense",
        scale="rating" if getattr(found, "_estimator_type", "") == "regressor" else "margin",
        schema={"type": "object"},
        version=_version(found),
        code=_source(found),
    )


class AdaptedTransformer:
    """A scikit-learn transformer as preprocessor, or as a learner of one layer."""

    layers = 1

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, features: Features) -> None:
        """Learn from rows without labels."""
        self.estimator.fit(features)

    def transform(self, features: Features, layer: int | None = None) -> Features:
        """What it makes of rows."""
        if layer not in (None, 1):
            raise SettingError(f"There is no layer {layer}: an adapted transformer has one.")
        return self.estimator.transform(features)

    def shallow(self) -> AdaptedTransformer:
        """The same, not yet fitted: it has one layer anyhow."""
        from sklearn.base import clone

        return AdaptedTransformer(clone(self.estimator))

    def states(self) -> Sequence[Mapping[str, NDArray[Any]]]:
        """The arrays that it learned, by name: scikit-learn writes them with an underscore at the end."""
        learned = {name: value for name, value in vars(self.estimator).items() if name.endswith("_")}
        return ({name: value for name, value in learned.items() if isinstance(value, np.ndarray)},)


class AdaptedClassifier:
    """A scikit-learn classifier or regressor with a grid."""

    def __init__(self, estimator: Any, grid: Mapping[str, Sequence[Any]]) -> None:
        self.estimator, self.choices = estimator, grid

    def grid(self) -> Sequence[Parameters]:
        """All combinations, in the order in which they are listed."""
        return tuple(
            dict(zip(self.choices, values, strict=True)) for values in itertools.product(*self.choices.values())
        )

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""
        from sklearn.base import clone

        self.estimator = clone(self.estimator).set_params(**parameters)
        self.estimator.fit(features, target)

    def score(self, features: Features) -> Scores:
        """A decision value, the expected value under the posterior, or the prediction, whichever it can give first."""
        values = getattr(self.estimator, "classes_", None)
        if values is not None and len(values) == 2 and hasattr(self.estimator, "decision_function"):
            return np.asarray(self.estimator.decision_function(features), np.float64)
        if values is not None and hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(features) @ values, np.float64)
        return np.asarray(self.estimator.predict(features), np.float64)


class AdaptedExtraction:
    """A function of items as preprocessor: it learns nothing."""

    def __init__(self, function: Callable[..., Any], parameters: Parameters) -> None:
        self.function = partial(function, **parameters)

    def fit(self, items: Any) -> None:
        """Nothing is to be learned."""

    def transform(self, items: Any) -> Features:
        """What the function makes of items."""
        return self.function(items)


class AdaptedPrediction:
    """A function `(rows, target, new_rows)` as classifier: it gets its training rows with every call."""

    def __init__(self, function: Callable[..., Any], parameters: Parameters) -> None:
        self.function = partial(function, **parameters)
        self.seen: tuple[Features, NDArray[Any]] = (np.zeros((0, 0)), np.zeros(0))

    def grid(self) -> Sequence[Parameters]:
        """Nothing is to be chosen."""
        return ({},)

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Keep the rows for the function."""
        self.seen = features, target

    def score(self, features: Features) -> Scores:
        """The function's scores."""
        return np.asarray(self.function(*self.seen, features), np.float64)


def _shape(found: Any, name: str) -> Shape:
    if inspect.isclass(found) and hasattr(found, "fit"):
        if hasattr(found, "predict"):
            return "classifier"
        if hasattr(found, "transform"):
            return "transformer"
    elif inspect.isroutine(found):
        needed = [one for one in inspect.signature(found).parameters.values() if one.default is one.empty]
        if len(needed) in (1, 3):
            return "extraction" if len(needed) == 1 else "prediction"
    raise UnknownNameError(
        f"{name!r} is not a harness module but a {type(found).__name__}, and neither a scikit-learn estimator nor a "
        "function of items, nor one of (rows, target, new rows)."
    )


def _classifier(kind: Any, parameters: Parameters, seed: int) -> AdaptedClassifier:
    plain = {name: value for name, value in parameters.items() if name != "grid"}
    return AdaptedClassifier(_estimator(kind, plain, seed), parameters.get("grid", {}))


_MAKERS: Mapping[Shape, Callable[[Any, Parameters, int], Any]] = {
    "transformer": lambda kind, parameters, seed: AdaptedTransformer(_estimator(kind, parameters, seed)),
    "classifier": _classifier,
    "extraction": lambda function, parameters, seed: AdaptedExtraction(function, parameters),
    "prediction": lambda function, parameters, seed: AdaptedPrediction(function, parameters),
}


def _estimator(kind: Any, parameters: Parameters, seed: int) -> Any:
    """The estimator with its parameters, and with our dice if it throws any (A37)."""
    known = set(inspect.signature(kind).parameters)
    wrong = sorted(set(parameters) - known)
    if wrong:
        raise SettingError(f"{kind.__name__} has no parameter {wrong[0]!r}. It has: {', '.join(sorted(known))}.")
    dice = {"random_state": seed % 2**32} if "random_state" in known else {}
    return kind(**{**dice, **parameters})


def _version(found: Any) -> str:
    """The version of the package that it comes from, which is part of every key."""
    from importlib import import_module

    package = str(getattr(found, "__module__", "")).partition(".")[0]
    return str(getattr(import_module(package), "__version__", "1")) if package else "1"


def _source(found: Any) -> tuple[str, ...]:
    try:
        file = inspect.getsourcefile(found)
    except TypeError:  # built into Python: its version is the interpreter's
        file = None
    return (file,) if file else (__file__,)
