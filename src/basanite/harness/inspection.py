"""A learner looked into: how far training moved its weights and codes (H-31), and how invariant its units are (A40).

Invariance after Goodfellow, Le, Saxe, Lee and Ng (NIPS 2009): a unit fires above the threshold that it passes on 1 % of
rows; its local rate is how often it still fires when rows that make it fire are changed step by step along a path, its
score the local over the global rate, and a layer's score the mean over its most invariant fifth. Of clips, windows are
the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.data.dataset import Files, Texts, items_at, items_of
from basanite.harness.modules.catalogue import find_module
from basanite.harness.steps.training import Reals, dense
from basanite.harness.study import windows
from basanite.harness.video.clips import NAMED, read_clip, transform_clips
from basanite.harness.video.codebook import clip_picture, filter_picture
from basanite.synthetic.review_words import ASPECTS, pool

PathReals = NDArray[np.float64]
DROPPED: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
SWAPPED: Final = (0.5, 1.0)
"""Shares of the words that have synonyms."""
SHIFTS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1), (0, 2), (2, 0), (0, -2), (-2, 0))


def changed_versions(items: Any) -> tuple[Iterable[Any], str]:
    """Changed versions of the items along a path, and what was done; none where no change is known.

    The versions come one at a time where all of them would not fit into memory.
    """
    if isinstance(items, list) and items and isinstance(items[0], Path):
        return transform_clips([read_clip(path) for path in items]), NAMED
    if isinstance(items, list):
        return _changed_texts(items)
    side = int(np.sqrt(items.shape[1]))
    if side * side == items.shape[1] and side > 2:
        return list(
            shift_pictures(np.asarray(items), side)
        ), f"pictures of {side} by {side} shifted by one and two pixels"
    return [], "no transformation is known for these items"


def _changed_texts(texts: Sequence[str]) -> tuple[list[list[str]], str]:
    dice = np.random.default_rng(0)
    path = [[_leave_out_words(text, share, dice) for text in texts] for share in DROPPED]
    kind = "words left out, 10% to 50%"
    if not any(_without_punctuation(word) in synonyms() for text in texts for word in text.split()):
        return path, kind
    swapped = [[_swap_synonyms(text, share, dice) for text in texts] for share in SWAPPED]
    return [*path, *swapped], f"{kind}; words of praise and blame swapped for synonyms, half of them and all"


def _leave_out_words(text: str, share: float, dice: np.random.Generator) -> str:
    words = text.split()
    kept = [word for word, drawn in zip(words, dice.random(len(words)), strict=True) if drawn >= share]
    return " ".join(kept or words[:1])


def _swap_synonyms(text: str, share: float, dice: np.random.Generator) -> str:
    """The text with a share of the words that have synonyms replaced by one of them; punctuation after it stays."""
    words = text.split()
    for place in np.flatnonzero(dice.random(len(words)) < share):
        bare = _without_punctuation(words[place])
        if others := synonyms().get(bare):
            words[place] = others[int(dice.integers(len(others)))] + words[place][len(bare) :]
    return " ".join(words)


def _without_punctuation(word: str) -> str:
    return word.rstrip(".,;!?")


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """By word, the others that say the same of the same aspect in the same form, of the words reviews are made of.

    >>> "tasty" in synonyms()["delicious"], "tasty" in synonyms()["bland"]
    (True, False)
    """
    found: dict[str, tuple[str, ...]] = {}
    for aspect in ASPECTS:
        for praise in (True, False):
            words = pool(aspect, praise=praise)
            for form in dict.fromkeys(words.forms):
                alike = [word for word, of in zip(words.words, words.forms, strict=True) if of == form]
                found |= {word: tuple(other for other in alike if other != word) for word in alike}
    return found


def shift_pictures(rows: PathReals, side: int) -> Iterator[PathReals]:
    """Square pictures moved by each shift, with zeros where nothing was.

    >>> next(shift_pictures(np.arange(4.0)[None], 2)).tolist()
    [[0.0, 0.0, 0.0, 2.0]]
    """
    pictures = rows.reshape(len(rows), side, side)
    for down, right in SHIFTS:
        padded = np.pad(pictures, ((0, 0), (side, side), (side, side)))
        moved = padded[:, side - down : 2 * side - down, side - right : 2 * side - right]
        yield moved.reshape(len(rows), -1)


GLOBAL_RATE: Final = 0.01
TOP_SHARE: Final = 0.2
MOST_ROWS: Final = 2000
MOST_CLIPS: Final = 40
"""Each is decoded and changed in eight ways."""


def inspect_learner(
    items: Mapping[str, Any],
    rows: Mapping[str, Any],
    preprocessor: Mapping[str, Any],
    learner: Mapping[str, Any],
    seen: int,
) -> dict[str, Any]:
    """The learner as it was trained and as it began: changes of weights and codes, and invariance, by layer."""
    made, prepare, order = _fit_preprocessor(items, rows, preprocessor, seen)
    held = items_of(items)
    sample = order[seen : seen + (MOST_CLIPS if isinstance(held, Files) else MOST_ROWS)]
    training = prepare(items_at(held, order[:seen]))
    trained, random = _learners(learner, training)
    features = prepare(items_at(held, sample))
    steps, kind = changed_versions(items_at(held, sample))
    path = [prepare(step) for step in steps]
    layers = range(1, trained.layers + 1)
    return {
        "transformation": kind,
        "pictures": list(_pictures(held, sample, made, trained, training.shape[1])),
        "layers": [
            {
                "layer": layer,
                "weights_changed": _weight_change(trained, random, layer),
                "codes_changed": _code_change(trained, random, features, layer),
                "invariance": _invariance(trained, features, path, layer),
                "invariance_random": _invariance(random, features, path, layer),
            }
            for layer in layers
        ],
    }


def _fit_preprocessor(
    items: Mapping[str, Any], rows: Mapping[str, Any], choice: Mapping[str, Any], seen: int
) -> tuple[Any, Callable[[Any], Any], NDArray[np.int64]]:
    """The fitted preprocessor, and the same as a function of items."""
    module, order = find_module(choice["module"]), rows["rows"]
    made = module.make(choice["parameters"], choice["seed"])

    def prepare_items(some: Any) -> Any:
        if not module.prepare or (len(some) and isinstance(some[0], Path)):
            return some
        whole = module.prepared(module.prepare(Texts.of(some) if isinstance(some, list) else some))
        return items_at(whole, np.arange(len(some)))

    made.fit(prepare_items(items_at(items_of(items), order[:seen])))
    return made, (lambda some: windows(made.transform(prepare_items(some)))), order


def _pictures(
    items: Any, sample: NDArray[np.int64], preprocessor: Any, learner: Any, width: int
) -> Iterator[dict[str, str]]:
    """Of clips: what the system is shown and the filters of its first layer, where these have the shape of pictures."""
    if not isinstance(items, Files) or not len(sample):
        return
    yield clip_picture(read_clip(items[int(sample[0])]))
    filters = _filters(preprocessor, learner, width)
    if filters is not None:
        yield filter_picture(filters)


def _filters(preprocessor: Any, learner: Any, width: int) -> NDArray[Any] | None:
    """What the first layer looks for, as small videos; None where its weights are not those of the input's points."""
    if hasattr(learner, "filters"):
        found: NDArray[Any] | None = learner.filters()
        return found
    weights = learner.states()[0].get("weights")
    if not hasattr(preprocessor, "as_videos") or np.ndim(weights) != 2 or np.shape(weights)[1] != width:
        return None
    laid: NDArray[Any] = preprocessor.as_videos(weights)
    return laid


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


def _invariance(learner: Any | None, features: Any, path: Sequence[Any], layer: int) -> float | None:
    """Of one layer, where there is a learner and a path: the changed rows, prepared as the rows are."""
    if learner is None or not path:
        return None
    moved = [dense(learner.transform(step, layer)) for step in path]
    return invariance(dense(learner.transform(features, layer)), moved)


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
