"""Cross-language retrieval (CLIR): for every query, which documents are relevant, and how sure the system is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import partial
from types import MappingProxyType
from typing import Any

from basanite.formats.retrieval.detection_lines import MATERIAL_DOCUMENT, Layout
from basanite.kernel import Scores
from basanite.metrics.retrieval.query_value import ADWV, AQWV, AQWV_ALL, AQWV_RELEVANT, PFA, PMISS
from basanite.metrics.retrieval.thresholds import AUC, AUC_POOLED, MQWV, MQWV_CROSSFIT, ORACLE, THETA_BEST
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.retrieval import DETECTION
from basanite.tasks.retrieval.decisions import CLIR_BETAS, PLAN, Opening, language_of, note_unscored, open_run
from basanite.tasks.retrieval.detection_charts import compared_figures, detection_figures
from basanite.tasks.retrieval.queries import QueryRun, Thresholds
from basanite.tasks.settings import whole_number

METRICS = (
    AQWV,
    AQWV_ALL,
    AQWV_RELEVANT,
    ADWV,
    PMISS,
    PFA,
    MQWV,
    MQWV_CROSSFIT,
    THETA_BEST,
    ORACLE,
    AUC,
    AUC_POOLED,
)


class ClirRun(QueryRun):
    """A CLIR submission: what all detection tasks do, and the values of this one."""

    settings: Mapping[str, Any] = MappingProxyType({})

    @property
    def beta(self) -> float:
        """What a false alarm costs against a miss in the values of CLIR."""
        return float(self.settings["beta"])

    def scores(self, system: str) -> Scores:
        """All rows and values of CLIR."""
        thresholds = Thresholds(self, beta=self.beta, folds=self.settings["folds"])
        metrics = tuple(metric.bind(beta=self.beta, **thresholds.parameters(metric.name)) for metric in METRICS)
        by_query = self.query_rows()
        decided = dict.fromkeys(("aqwv", "aqwv_all", "aqwv_relevant", "pmiss", "pfa"), by_query)
        return Scores(
            task="clir",
            system=system,
            metrics=metrics,
            tables={**decided, "adwv": self.document_rows(), **thresholds.tables()},
            primary="aqwv",
            settings=self.settings,
            digests={"submission": self.source.digest.value(), "reference": self.key.digest},
            notes=self.notes(),
            flags=self.flags(by_query),
            sweep=thresholds.sweep,
            parts=thresholds.parts(by_query, self.decision_threshold()),
        )


def open_clir(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> ClirRun | None:
    """Open the key and decide what beta is; without either there is nothing to score."""
    pattern = re.compile(settings["document_pattern"])
    run = open_run(ClirRun, inputs, Opening(Layout(3, pattern)), findings, executor)
    if run is None:
        return None
    language = settings["language"] or language_of(run.key.documents.texts(), pattern)
    run.settings = {**_settings_shown(settings), "language": language, "plan": PLAN}
    with note_unscored(run):
        run.settings |= CLIR_BETAS.values_for(settings, language) if run.key.has_reference else {}
    return run


def _settings_shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def pattern_text(text: str) -> str:
    """A setting that is a regular expression."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"it is not a regular expression ({error})") from error
    return text


TASK = Task(
    name="clir",
    summary="Cross-language retrieval: which documents are relevant to each query, with decisions and confidences",
    citation="IARPA MATERIAL evaluation plan v6.0.4 (2018)",
    unit="query",
    primary="aqwv",
    metrics=METRICS,
    open=open_clir,
    settings=(
        *CLIR_BETAS.settings(),
        Setting("document_pattern", "A regular expression that matches DocIDs.", pattern_text, MATERIAL_DOCUMENT),
        Setting("folds", "Folds of queries for the cross-fitted threshold.", partial(whole_number, 2, 100), 10),
    ),
    figures=detection_figures,
    compared_figures=compared_figures,
    explanations=DETECTION,
    answers=AnswerFormat(
        "A .tgz archive with one file for each query, called after it. Each line has a document, Y or N, "
        "and a confidence from 0.0 to 1.0, separated by tabs. Every document of the set has a line.",
        example=(
            "MATERIAL_BASE-1A_20765957\tN\t0.020\n"
            "MATERIAL_BASE-1A_98834241\tN\t0.0\n"
            "MATERIAL_BASE-1A_61928565\tN\t0.01714\n"
        ),
        file="query04276.tsv",
        content="archive",
    ),
)
