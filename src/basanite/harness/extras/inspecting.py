"""A learner looked into: how far training moved its weights and codes (H-31), and how invariant its units are (A40).

Invariance after Goodfellow, Le, Saxe, Lee and Ng (NIPS 2009): a unit fires above the threshold that it passes on 1 % of
rows; its local rate is how often it still fires when rows that make it fire are changed step by step along a path, its
score the local over the global rate, and a layer's score the mean over its most invariant fifth. Paths: words left out
of texts, shifts of square pictures by pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.data.dataset import Texts, items_of, taken
from basanite.harness.extras.works import Reals, dense
from basanite.harness.plan.modules import find_module

GLOBAL_RATE: Final = 0.01
TOP_SHARE: Final = 0.2
MOST_ROWS: Final = 2000
DROPPED: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
SHIFTS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1), (0, 2), (2, 0), (0, -2), (-2, 0))
Path = Sequence[Any]


def inspected(
    items: Mapping[str, Any],
    rows: Mapping[str, Any],
    preprocessor: Mapping[str, Any],
    learner: Mapping[str, Any],
    seen: int,
) -> dict[str, Any]:
    """The learner as it was trained and as it began: changes of weights and codes, and invariance, by layer."""
    prepare, order = _prepared(items, rows, preprocessor, seen)
    sample = order[seen : seen + MOST_ROWS]
    held = items_of(items)
    training = prepare(taken(held, order[:seen]))
    trained, random = _learners(learner, training)
    features = prepare(taken(held, sample))
    path, kind = path_of(taken(held, sample))
    layers = range(1, trained.layers + 1)
    return {
        "transformation": kind,
        "layers": [
            {
                "layer": layer,
                "weights_changed": _weight_change(trained, random, layer),
                "codes_changed": _code_change(trained, random, features, layer),
                "invariance": _invariance(trained, prepare, features, path, layer),
                "invariance_random": _invariance(random, prepare, features, path, layer),
            }
            for layer in layers
        ],
    }


def _prepared(
    items: Mapping[str, Any], rows: Mapping[str, Any], choice: Mapping[str, Any], seen: int
) -> tuple[Callable[[Any], Any], NDArray[np.int64]]:
    """The fitted preprocessor as a function of items."""
    module, order = find_module(choice["module"]), rows["rows"]
    made = module.make(choice["parameters"], choice["seed"])

    def held(some: Any) -> Any:
        if not module.prepare:
            return some
        whole = module.prepared(module.prepare(Texts.of(some) if isinstance(some, list) else some))
        return taken(whole, np.arange(len(some)))

    made.fit(held(taken(items_of(items), order[:seen])))
    return (lambda some: made.transform(held(some))), order


def _learners(choice: Mapping[str, Any], training: Any) -> tuple[Any, Any | None]:
    """The trained learner, and the same with the weights it had before, where it can give them."""
    module = find_module(choice["module"])
    trained = module.make(choice["parameters"], choice["seed"])
    trained.fit(training)
    if "trained" not in module.schema.get("properties", {}):
        return trained, None
    random = module.make({**choice["parameters"], "trained": False}, choice["seed"])
    random.fit(training)
    return trained, random


def _weight_change(trained: Any, random: Any | None, layer: int) -> float | None:
    """How far the weights of a layer moved, in lengths of what they were; None where they cannot be compared."""
    if random is None:
        return None
    after, before = (dict(one.states()[layer - 1]) for one in (trained, random))
    if {k: np.shape(v) for k, v in after.items()} != {k: np.shape(v) for k, v in before.items()}:
        return None
    moved = sum(float(((after[name] - before[name]) ** 2).sum()) for name in after)
    size = sum(float((before[name] ** 2).sum()) for name in before)
    return float(np.sqrt(moved / size)) if size else None


def _code_change(trained: Any, random: Any | None, features: Any, layer: int) -> float | None:
    """How unlike the codes are to those before training: 1 less the linear centred kernel alignment."""
    if random is None:
        return None
    one, two = (dense(learner.transform(features, layer)) for learner in (trained, random))
    return 1.0 - alignment(one, two)


def alignment(first: Reals, second: Reals) -> float:
    """Linear centred kernel alignment of two codes of the same rows (Kornblith and others, 2019): 1 for the same.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    >>> round(alignment(rows, 3 * rows[:, ::-1]), 9)
    1.0
    """
    one, two = first - first.mean(axis=0), second - second.mean(axis=0)
    across = float(((one.T @ two) ** 2).sum())
    size = float(np.linalg.norm(one.T @ one) * np.linalg.norm(two.T @ two))
    return across / size if size else 0.0


def path_of(items: Any) -> tuple[Path, str]:
    """Changed versions of the items along a path, and what was done; none where no change is known."""
    if isinstance(items, list):
        dice = np.random.default_rng(0)
        return [[_without(text, share, dice) for text in items] for share in DROPPED], "words left out, 10 % to 50 %"
    side = int(np.sqrt(items.shape[1]))
    if side * side == items.shape[1] and side > 2:
        return list(shifted(np.asarray(items), side)), f"pictures of {side} by {side} shifted by one and two pixels"
    return [], "no transformation is known for these items"


def shifted(rows: Reals, side: int) -> Iterator[Reals]:
    """Square pictures moved by each shift, with zeros where nothing was.

    >>> next(shifted(np.arange(4.0)[None], 2)).tolist()
    [[0.0, 0.0, 0.0, 2.0]]
    """
    pictures = rows.reshape(len(rows), side, side)
    for down, right in SHIFTS:
        padded = np.pad(pictures, ((0, 0), (side, side), (side, side)))
        moved = padded[:, side - down : 2 * side - down, side - right : 2 * side - right]
        yield moved.reshape(len(rows), -1)


def _without(text: str, share: float, dice: np.random.Generator) -> str:
    words = text.split()
    kept = [word for word, drawn in zip(words, dice.random(len(words)), strict=True) if drawn >= share]
    return " ".join(kept or words[:1])


def _invariance(
    learner: Any | None, prepare: Callable[[Any], Any], features: Any, path: Path, layer: int
) -> float | None:
    if learner is None or not path:
        return None
    base = dense(learner.transform(features, layer))
    moved = [dense(learner.transform(prepare(step), layer)) for step in path]
    return invariance(base, moved)


def invariance(base: Reals, moved: Sequence[Reals]) -> float | None:
    """The mean over the most invariant fifth of units of local over global rate of firing (A40).

    >>> base = np.repeat(np.arange(200.0)[:, None], 5, axis=1)
    >>> round(invariance(base, [base]), 6), invariance(base, [base[::-1]])
    (100.0, 0.0)
    """
    firing = max(1, round(GLOBAL_RATE * len(base)))
    signs = np.where(np.abs(base.max(axis=0)) >= np.abs(base.min(axis=0)), 1.0, -1.0)
    signed = base * signs
    threshold = np.sort(signed, axis=0)[-firing]
    fires = signed >= threshold
    rate = fires.mean(axis=0)
    alive = (rate > 0) & (rate < 0.5)  # a unit that is the same for all rows has no threshold of 1 %
    if not alive.any():
        return None
    local = np.mean([((step * signs >= threshold) & fires).sum(axis=0) / fires.sum(axis=0) for step in moved], axis=0)
    scores = np.sort((local / rate)[alive])[::-1]
    return float(scores[: max(1, round(TOP_SHARE * len(scores)))].mean())
