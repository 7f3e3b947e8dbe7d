"""Every measure's value in resampled draws, by the way of drawing that is valid for it (S-5).

Cosine measures, silhouette and point-biserial take bootstrap draws without pairs of copies. Moments cannot drop copies
(a class drawn with copies is tighter than it is), so their draws are moved to the estimate. Dunn, OTCE, and the H-score
with few rows take half of each class without replacement. What would cost too much has no draws, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from basanite.kernel import Ends
from basanite.representation.catalogue import measure_metric
from basanite.representation.data import Data, in_batches
from basanite.representation.measures.all_measures import Options
from basanite.representation.measures.cluster_measures import dunn
from basanite.representation.measures.ferm import Ratios, cosine_values, ratios
from basanite.representation.measures.further import FURTHER
from basanite.representation.measures.pairs import Dunn
from basanite.representation.measures.resamples import (
    COSINE_DRAWS,
    MOMENT_DRAWS,
    cosine_terms_of,
    linear_draws,
    merge_blocks,
    pairwise_draws,
    resampling_of,
    subsamples,
)
from basanite.representation.measures.results import Classes, Floats, Numbers
from basanite.representation.measures.transfer import Transport, h_score, h_score_draws, leep_draws, otce

HALF_SAMPLES: Final = 100
OTCE_SAMPLES: Final = 40
FEWER: Final = 200
"""Draws where all of them would take long."""
MOST_PAIRS: Final = 2e10
"""Pairs of rows times draws up to which all draws are made."""
MOST_ROWS: Final = 20_000
"""Rows beyond which measures of pairs are not drawn at all."""
MOST_DIMENSIONS: Final = 256
"""Dimensions beyond which the H-score is not drawn."""
MOST_TRANSPORT: Final = 400
"""Rows a side beyond which OTCE is not drawn."""
HALVES: Final = "interval from half-samples without replacement"
CENTRED: Final = "resamples centered on the estimate, because repeated rows tighten classes"
TOO_COSTLY: Final = "no interval: drawing would take too long"
MOVES_WITH_ROWS: Final = "no interval: copies of rows would move it"
OTHER_DEFINITION: Final = "no interval: this definition is not drawn"

Weights = Callable[[], Iterable[Floats]]


@dataclass(frozen=True)
class Drawn:
    """Values in draws: of the whole set by measure, and of each class `[draws, K]`."""

    values: Mapping[str, Floats] = field(default_factory=dict)
    classes: Mapping[str, Floats] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()
    """Measures whose draws are moved to the estimate."""
    ends: Mapping[str, Ends] = field(default_factory=dict)
    """The values that a measure of these data can have, where more is known than the catalogue says."""
    why: Mapping[str, str] = field(default_factory=dict)
    """What must be said of how a measure was drawn, or why it was not."""


def draw_all(
    data: Data,
    names: Collection[str],
    options: Options,
    weights: Weights,
    *,
    seed: int,
    executor: Executor | None = None,
) -> Drawn:
    """Every named measure in the draws that the weights make, or in half-samples; what takes long on the executor."""
    found = Drawn()
    with np.errstate(all="ignore"):  # an undefined draw is nan and counted, not warned of
        for part in (_cosine, _moments, partial(_pairs, executor), _transfer, partial(_halves, executor)):
            found = _merge_draws(found, part(data, names, options, weights, seed))
    not_drawn = dict.fromkeys((name for name in FURTHER if name in names), MOVES_WITH_ROWS)
    return replace(found, ends=_ends(data, names, options), why={**found.why, **not_drawn})


def _ends(data: Data, names: Collection[str], options: Options) -> dict[str, Ends]:
    settings = {"classes": len(data.classes), "definition": options.point_biserial}
    return {name: measure_metric(name, **settings).ends for name in names}


def row_draws(each: Mapping[str, Floats], classes: Classes, weights: Weights) -> Drawn:
    """Means over rows of figures that each row has: of the whole set and of each class, other rows held fixed."""
    parts = [{name: _row_means(rows, classes, block) for name, rows in each.items()} for block in weights()]
    if not parts:
        return Drawn()
    whole = {name: np.concatenate([part[name][0] for part in parts]) for name in each}
    by_class = {name: np.concatenate([part[name][1] for part in parts]) for name in each}
    return Drawn(whole, by_class)


def _row_means(rows: Floats, classes: Classes, block: Floats) -> tuple[Floats, Floats]:
    ordered, heavy = (block * rows)[:, classes.order], block[:, classes.order]
    sums = np.add.reduceat(ordered, classes.starts[:-1], axis=1)
    counts = np.add.reduceat(heavy, classes.starts[:-1], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums.sum(axis=1) / counts.sum(axis=1), sums / counts


def _merge_draws(first: Drawn, second: Drawn) -> Drawn:
    return Drawn(
        {**first.values, **second.values},
        {**first.classes, **second.classes},
        first.moved | second.moved,
        why={**first.why, **second.why},
    )


def _cosine(data: Data, names: Collection[str], options: Options, weights: Weights, seed: int) -> Drawn:
    if not set(names) & set(COSINE_DRAWS):
        return Drawn()
    found = [
        ratios(
            cosine_terms_of(data.features, data.classes, group),
            weighting=options.weighting,
            singletons=options.singletons,
        )
        for group in merge_blocks(weights())
    ]
    if not found:
        return Drawn()
    values = [cosine_values(part) for part in found]
    whole = {name: np.concatenate([part[name] for part in values]) for name in COSINE_DRAWS if name in names}
    return Drawn(whole, _by_class(found))


def _by_class(found: list[Ratios]) -> dict[str, Floats]:
    intra, inter = (np.concatenate([getattr(part, name) for part in found]) for name in ("intra", "inter"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {"intra": intra, "inter": inter, "ferm1": np.where(np.abs(inter) > 1e-12, intra / inter, np.nan)}


def _moments(data: Data, names: Collection[str], options: Options, weights: Weights, seed: int) -> Drawn:
    drawn = tuple(name for name in (*MOMENT_DRAWS, "davies_bouldin") if name in names)
    why = dict.fromkeys(_other_definitions(options), OTHER_DEFINITION)
    kept = tuple(name for name in drawn if name not in why)
    blocks = list(weights()) if kept else []
    if not blocks:
        return Drawn(why=why)
    return Drawn(linear_draws(data.features, data.classes, blocks, names=kept), moved=frozenset(kept), why=why)


def _other_definitions(options: Options) -> Iterator[str]:
    if options.q != 1 or options.coincident != "inf":
        yield "davies_bouldin"
    if options.c_root_k != "of_roots" or options.constants != "omit":
        yield "c_root_k"


def _pairs(
    executor: Executor | None, data: Data, names: Collection[str], options: Options, weights: Weights, seed: int
) -> Drawn:
    wanted = [name for name in ("silhouette", "point_biserial") if name in names]
    why = {"silhouette": OTHER_DEFINITION} if options.average != "micro" else {}
    if data.rows > MOST_ROWS:
        why = dict.fromkeys(wanted, TOO_COSTLY)
    kept = [name for name in wanted if name not in why]
    blocks = list(_affordable(weights(), data.rows)) if kept else []
    if not blocks:
        return Drawn(why=why)
    found = pairwise_draws(
        data.features,
        data.classes,
        blocks,
        precision=options.precision,
        definition=options.point_biserial,
        executor=executor,
    )
    return Drawn({name: found[name] for name in kept}, why=why)


def _affordable(blocks: Iterable[Floats], rows: int) -> Iterator[Floats]:
    """All draws, or the first few where pairs are many."""
    yield from _first(blocks, None if rows**2 * 1000.0 <= MOST_PAIRS else FEWER)


def _first(blocks: Iterable[Floats], most: int | None) -> Iterator[Floats]:
    left = most
    for block in blocks:
        if left is not None and left <= 0:
            return
        yield block if left is None else block[:left]
        left = None if left is None else left - len(block)


def _transfer(data: Data, names: Collection[str], options: Options, weights: Weights, seed: int) -> Drawn:
    values: dict[str, Floats] = {}
    why: dict[str, str] = {}
    theta = data.source.probabilities
    blocks = list(weights()) if {"leep", "h_score"} & set(names) else []
    if "leep" in names and theta is not None and blocks:
        values["leep"] = leep_draws(theta, data.classes, blocks)
    if "h_score" in names and _takes_bootstrap("h_score", data) and blocks:
        if options.shrunk or data.dimensions > MOST_DIMENSIONS:
            why["h_score"] = OTHER_DEFINITION if options.shrunk else TOO_COSTLY
        else:
            values["h_score"] = h_score_draws(data.features, data.classes, _first(blocks, FEWER))
    return Drawn(values, moved=frozenset(values), why=why)


def _takes_bootstrap(name: str, data: Data) -> bool:
    return resampling_of(name, rows=data.rows, dimensions=data.dimensions) == "bootstrap"


def _halves(
    executor: Executor | None, data: Data, names: Collection[str], options: Options, weights: Weights, seed: int
) -> Drawn:
    """Values on half-samples: they scatter about their middle as the whole scatters about the true value."""
    if not any(True for _ in islice(weights(), 1)):
        return Drawn()

    def on_halves(work: Callable[[Numbers], float]) -> Floats:
        return np.array(in_batches(work, subsamples(data.classes, draws=HALF_SAMPLES, seed=seed), executor))

    found: dict[str, Floats | None] = {}
    if "dunn" in names:
        work = partial(_dunn_of, data.features, data.classes, options.dunn)
        found["dunn"] = on_halves(work) if data.rows <= MOST_ROWS // 4 else None
    if "h_score" in names and not _takes_bootstrap("h_score", data):
        work = partial(_h_score_of, data.features, data.classes, options.shrunk)
        found["h_score"] = on_halves(work) if data.dimensions <= MOST_DIMENSIONS else None
    transport = tuple(name for name in ("otce_wd", "otce_wt") if name in names)
    if transport:
        found |= _otce_halves(data, seed, options, transport, executor)
    values = {name: drawn for name, drawn in found.items() if drawn is not None}
    why = {name: TOO_COSTLY if drawn is None else HALVES for name, drawn in found.items()}
    return Drawn(values, moved=frozenset(values), why=why)


def _dunn_of(features: Any, classes: Classes, definition: Dunn, rows: Numbers) -> float:
    return float(dunn(features[rows], classes.subset(rows), definition=definition).value)


def _h_score_of(features: Any, classes: Classes, shrunk: bool, rows: Numbers) -> float:
    return float(h_score(features[rows], classes.subset(rows), shrunk=shrunk).value)


def _otce_halves(
    data: Data, seed: int, options: Options, names: Collection[str], executor: Executor | None
) -> Mapping[str, Floats | None]:
    """Both parts of OTCE on half-samples of both sides; None where that would take too long."""
    features, labels = data.source.features, data.source.labels
    if features is None or labels is None or max(data.rows, len(labels)) > MOST_TRANSPORT:
        return dict.fromkeys(names)
    source = Classes.of(labels)
    pairs = zip(
        subsamples(data.classes, draws=OTCE_SAMPLES, seed=seed),
        subsamples(source, draws=OTCE_SAMPLES, seed=seed + 1),
        strict=True,
    )
    work = partial(_otce, (features, source), (data.features, data.classes), options, seed)
    found = np.array(in_batches(work, pairs, executor)).reshape(-1, 2)
    return {name: found[:, at] for at, name in enumerate(("otce_wd", "otce_wt")) if name in names}


def _otce(
    source: tuple[Any, Classes],
    target: tuple[Any, Classes],
    options: Options,
    seed: int,
    rows: tuple[Numbers, Numbers],
) -> tuple[float, float]:
    ours, theirs = rows
    found = otce(
        source_features=source[0][theirs],
        source_labels=source[1].subset(theirs),
        target_features=target[0][ours],
        target_labels=target[1].subset(ours),
        transport=Transport(plan=options.plan, seed=seed),
    )
    return found.wd.value, found.wt.value
