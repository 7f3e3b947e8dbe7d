"""Identification metrics: for each domain or language, how many documents were found, missed and wrongly named.

X1 to X4 are hits, misses, false alarms and correct rejections. They are shown three ways: as counts, as percent of
what a perfect system would find (so false alarms may exceed 100), and each as percent of its own class. Sections 5 and
8.3.2 of the MATERIAL evaluation plan, v6.0.4 (2018); the first way comes first, none stands without its label (C09).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import NOT_NEGATIVE, Direction, Ends, Metric, Rows, ratio
from basanite.metrics.retrieval.query_value import Detections

SECTION_5 = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 5"
SECTION_8 = "IARPA MATERIAL evaluation plan v6.0.4 (2018), section 8.3.2"

COLUMNS = ("x1", "x2", "x3", "x4")
BEST: tuple[Direction, ...] = ("high", "low", "low", "high")
PERCENT: Ends = (0.0, 100.0)
OF_TRUTH = (PERCENT, PERCENT, NOT_NEGATIVE, NOT_NEGATIVE)
FEWEST_FOR_RARE = 50
"""Documents from which an interval of a count of errors holds: among fewer there are too few errors."""
NAMES = {"x1": "hits", "x2": "misses", "x3": "false alarms", "x4": "correct rejections"}


def outcomes(relevant: ArrayLike, returned: ArrayLike) -> Rows:
    """For each document which of the four outcomes it is: one row with a single 1.

    >>> outcomes([True, True, False], [True, False, True]).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    truth, answer = np.asarray(relevant, bool), np.asarray(returned, bool)
    return np.stack([truth & answer, truth & ~answer, ~truth & answer, ~truth & ~answer], axis=-1).astype(np.float64)


def statistics(block: Detections) -> Rows:
    """How often each outcome occurs for each unit: a document over its targets, or a target over its documents."""
    return np.asarray(outcomes(block.relevant, block.returned).sum(axis=1))


def _count(sums: Rows, place: int) -> NDArray[np.float64]:
    return np.where(sums.sum(axis=-1) > 0, sums[..., place], np.nan)


def _of_truth(sums: Rows, place: int) -> NDArray[np.float64]:
    return 100 * ratio(sums[..., place], sums[..., 0] + sums[..., 1])


def _of_class(sums: Rows, place: int) -> NDArray[np.float64]:
    first = place // 2 * 2
    return 100 * ratio(sums[..., place], sums[..., first] + sums[..., first + 1])


def _metric(
    name: str, summary: str, citation: str, reduce: partial[NDArray[np.float64]], best: Direction, ends: Ends
) -> Metric:
    return Metric(
        name=name,
        summary=summary,
        citation=citation,
        family="identification",
        statistics=statistics,
        reduce=reduce,
        range=ends,
        best=best,
        columns=COLUMNS,
        unit="document",
        overall=False,
        interval="wilson" if name in ("false_alarm", "correct_rejection") else "expanded",
        fewest=FEWEST_FOR_RARE if name in ("x2", "x3") else 0,
    )


COUNTS = tuple(
    replace(
        _metric(
            name,
            f"Number of documents that are {NAMES[name]}",
            SECTION_5,
            partial(_count, place=place),
            BEST[place],
            NOT_NEGATIVE,
        ),
        title=f"{name.upper()} ({NAMES[name]})",
    )
    for place, name in enumerate(COLUMNS)
)
SHARES_OF_TRUTH = tuple(
    replace(
        _metric(
            f"{name}_of_truth",
            f"{NAMES[name].capitalize()} as percent of what a perfect system would find; may exceed 100",
            SECTION_5,
            partial(_of_truth, place=place),
            BEST[place],
            OF_TRUTH[place],
        ),
        title=f"{name.upper()} (% of perfect)",
    )
    for place, name in enumerate(COLUMNS)
)
SHARES_OF_CLASS = tuple(
    replace(
        _metric(
            name,
            f"{what} as percent of its own class",
            SECTION_8,
            partial(_of_class, place=place),
            BEST[place],
            PERCENT,
        ),
        title=f"{what} (%)",
    )
    for place, (name, what) in enumerate(
        {
            "hit": "Hits",
            "miss": "Misses",
            "false_alarm": "False alarms",
            "correct_rejection": "Correct rejections",
        }.items()
    )
)
X1, X2, X3, X4 = COUNTS
X1_OF_TRUTH, X2_OF_TRUTH, X3_OF_TRUTH, X4_OF_TRUTH = SHARES_OF_TRUTH
HIT, MISS, FALSE_ALARM, CORRECT_REJECTION = SHARES_OF_CLASS
METRICS = (*COUNTS, *SHARES_OF_TRUTH, *SHARES_OF_CLASS)
