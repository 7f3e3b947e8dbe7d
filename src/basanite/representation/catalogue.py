"""What each representation measure is, for reports: its meaning, which way is better, and who defined it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from basanite.kernel import ANY, NOT_NEGATIVE, SHARE, SIGNED_SHARE, Ends, Metric
from basanite.representation.measures.further import FURTHER
from basanite.representation.measures.pairs import PointBiserial
from basanite.representation.measures.results import DIRECTIONS

PRIMARY: Final = "ferm1"
UNIT: Final = "row"
FERM_PAPER: Final = "Fu, Ge and Plested, FERM (2022)"
OURS: Final = "Basanite's own"
ABOUT: Final = {
    "ferm1": ("mean over classes of similarity inside over similarity to all other rows", FERM_PAPER),
    "ferm2": ("mean similarity inside classes over mean similarity between pairs of classes", FERM_PAPER),
    "ferm3": ("mean similarity inside classes over that of rows with other classes' centroids", FERM_PAPER),
    "ferm4": ("mean similarity inside classes over that between class centroids", FERM_PAPER),
    "gap": ("mean similarity inside classes less that between classes", OURS),
    "collapse": ("one minus similarity inside, over one minus similarity between", OURS),
    "silhouette": ("mean over rows of how much nearer the own class is than the next", "Rousseeuw (1987)"),
    "davies_bouldin": ("mean over classes of the worst ratio of sizes to distance", "Davies and Bouldin (1979)"),
    "calinski_harabasz": ("scatter between classes over scatter inside them", "Calinski and Harabasz (1974)"),
    "dunn": ("least distance between classes over the largest inside one", "Dunn (1974)"),
    "rs": ("share of the scatter that lies between classes", "Halkidi et al. (2001)"),
    "point_biserial": ("correlation of distance with being of different classes", "Milligan (1981)"),
    "c_root_k": ("mean root share of between-class scatter, over the root of K", "Ratkowsky and Lance (1978)"),
    "leep": ("mean log-likelihood of labels under the source head", "Nguyen et al. (2020)"),
    "h_score": ("feature covariance explained by class means", "Bao et al. (2019)"),
    "otce_wd": ("transport distance from source to target", "Tan et al. (2021)"),
    "otce_wt": ("uncertainty of target labels under the transport plan", "Tan et al. (2021)"),
    "logme": ("log evidence of linear models of the classes, a row", "You et al. (2021)"),
    "nce": ("minus the entropy of labels, given what the source head says", "Tran et al. (2019)"),
    "transrate": ("coding rate of all features less that inside classes", "Huang et al. (2022)"),
    "rankme": ("entropy rank of the features, without labels", "Garrido et al. (2023)"),
    "effective_rank": ("entropy rank of the centered features, without labels", "Roy and Vetterli (2007)"),
    "accuracy": ("share of rows that were predicted rightly", ""),
    "misplaced": ("share of rows that are more similar to another class than to their own", OURS),
    "intra": ("mean cosine of pairs inside the class", FERM_PAPER),
    "inter": ("mean cosine with the rows of all other classes", FERM_PAPER),
    "rival_cosine": ("mean cosine with the nearest other class", OURS),
}
TITLES: Final = {
    **{f"ferm{form}": f"FERM {form}" for form in (1, 2, 3, 4)},
    "gap": "Similarity gap",
    "davies_bouldin": "Davies–Bouldin index",
    "calinski_harabasz": "Calinski–Harabasz index",
    "dunn": "Dunn index",
    "rs": "R-squared",
    "point_biserial": "Point-biserial correlation",
    "c_root_k": "C/√K",
    "leep": "LEEP",
    "h_score": "H-score",
    "otce_wd": "OTCE (distance)",
    "otce_wt": "OTCE (uncertainty)",
    "logme": "LogME",
    "nce": "NCE",
    "transrate": "TransRate",
    "rankme": "RankMe",
    "effective_rank": "Effective rank",
    "misplaced": "Misplaced rows",
    "intra": "Cosine inside the class",
    "inter": "Cosine to other classes",
}
"""How people write them, where that is not what the key says."""


def _point_biserial_ends(definition: PointBiserial = "pearson", **_: object) -> Ends:
    """-1 to 1, or any number by the definition clustercrit."""
    return ANY if definition == "clustercrit" else SIGNED_SHARE


def _h_score_ends(classes: float = math.inf, **_: object) -> Ends:
    """0 to the number of classes less 1."""
    return 0.0, classes - 1


def _otce_ends(classes: float = math.inf, **_: object) -> Ends:
    """0 to the logarithm of the number of classes."""
    return 0.0, math.log(classes)


RANGES: Final[Mapping[str, Ends | Callable[..., Ends]]] = {
    **dict.fromkeys(("ferm1", "ferm2", "ferm3", "ferm4"), ANY),
    "gap": (-2.0, 2.0),
    "collapse": NOT_NEGATIVE,
    "silhouette": SIGNED_SHARE,
    "davies_bouldin": NOT_NEGATIVE,
    "calinski_harabasz": NOT_NEGATIVE,
    "dunn": NOT_NEGATIVE,
    "rs": SHARE,
    "point_biserial": _point_biserial_ends,
    "c_root_k": SHARE,
    "leep": (-math.inf, 0.0),
    "h_score": _h_score_ends,
    "otce_wd": NOT_NEGATIVE,
    "otce_wt": _otce_ends,
    "logme": ANY,
    "nce": (-math.inf, 0.0),
    "transrate": ANY,
    "rankme": NOT_NEGATIVE,
    "effective_rank": (1.0, math.inf),
    "accuracy": SHARE,
    "misplaced": SHARE,
    "intra": SIGNED_SHARE,
    "inter": SIGNED_SHARE,
    "rival_cosine": SIGNED_SHARE,
}
"""The values there can be (S-26). Negative features make cosines, and so the ratios of FERM, of either sign."""
BEST: Final = {
    **DIRECTIONS,
    "accuracy": "high",
    "misplaced": "low",
    "intra": "high",
    "inter": "low",
    "rival_cosine": "low",
}
SHARES: Final = ("accuracy", "misplaced")
OF_CLASSES: Final = ("intra", "inter", "rival_cosine")
"""What a class has, and the whole set has not."""


def _from_features(*_: object, **__: object) -> NoReturn:
    raise TypeError("representation measures are computed from features, not from rows of statistics")


def measure_metric(name: str, **settings: object) -> Metric:
    """A measure as reports know it; `classes` and `definition` say which values it can have.

    >>> measure_metric("davies_bouldin").best
    'low'
    """
    summary, citation = ABOUT[name]
    return Metric(
        name=name,
        title=TITLES.get(name, ""),
        summary=summary,
        citation=citation,
        family="representation",
        statistics=_from_features,
        reduce=_from_features,
        range=RANGES[name],
        best=BEST[name],
        unit=UNIT,
        proportion=name in SHARES,
        interval="percentile",
        overall=name not in OF_CLASSES,
        by_rows=False,
        parameters=("classes", "definition"),
    ).bind(**settings)


def measure_title(name: str) -> str:
    """What a measure is called where people read it; words that name none stay.

    >>> measure_title("ferm1"), measure_title("silhouette"), measure_title("mean")
    ('FERM 1', 'Silhouette', 'mean')
    """
    return measure_metric(name).display_name if name in ABOUT else name


METRICS: Final = tuple(measure_metric(name) for name in ABOUT if name not in ("rival_cosine", *FURTHER))
"""Every measure as the task `representation` names it, the primary one first."""
