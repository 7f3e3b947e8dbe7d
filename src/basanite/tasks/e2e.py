"""End to end (CLIR+S): retrieval and summaries together, as far as judges of the summaries confirm it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.votes import Combination, Judging, Panel, Rule, Tie, Votes, panel_of, single_shares, votes_of
from basanite.errors import SettingError
from basanite.formats.archives.members import Limits, member_digest
from basanite.formats.bounded import read_bounded
from basanite.formats.retrieval.detection_files import Answers
from basanite.formats.retrieval.detection_key import Key
from basanite.formats.retrieval.detection_lines import Layout
from basanite.formats.retrieval.judgements import LARGEST, Judgements, PairVotes, read_judgements, votes_on
from basanite.formats.retrieval.summary_metadata import TEAMS, summary_rules
from basanite.kernel import JudgedRows, LevelRows, Rows, Scores, UnitRows
from basanite.metrics.retrieval.query_value import (
    COLUMNS,
    E2E_AQWV,
    E2E_AQWV_ALL,
    E2E_AQWV_RELEVANT,
    E2E_PFA,
    E2E_PMISS,
    Detections,
    Returned,
    rows_of_shares,
)
from basanite.problems import Findings
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.agreement import Agreement, agreement
from basanite.tasks.clir import METRICS as CLIR_METRICS
from basanite.tasks.clir import TASK as CLIR
from basanite.tasks.retrieval.decisions import (
    CLIR_BETAS,
    E2E_BETAS,
    PLAN,
    Opening,
    language_of,
    note_unscored,
    number,
    open_run,
)
from basanite.tasks.retrieval.detection_charts import compared_figures, detection_figures
from basanite.tasks.retrieval.queries import Counted
from basanite.tasks.retrieval.summaries import Folders, SummariesRun

METRICS = (E2E_AQWV, E2E_AQWV_ALL, E2E_AQWV_RELEVANT, E2E_PMISS, E2E_PFA)
JUDGING = ("judging", "rule", "tie")
HIDDEN = ("judge_key", "unjudged")
Unjudged = Literal["refuse", "undefined"]
DEPTH = 2
MOST_MEMBERS, MOST_BYTES = 1_000_000, 256 * 2**30


@dataclass(frozen=True)
class PairsCounted(Counted):
    """One query as CLIR counts it, and its returned pairs: overall ("") and by level of each factor of documents."""

    pairs: Mapping[str, Returned]


class E2eRun(SummariesRun):
    """A submission with summaries and what judges said of them."""

    judgements: Judgements | None = None
    judgements_name: str = ""
    votes: PairVotes | None = None
    unjudged: Unjudged = "refuse"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.folders = Folders()
        self.returned: dict[str, Mapping[str, Returned]] = {}
        self.pairs: dict[str, list[tuple[str, str]]] = {}

    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> PairsCounted:
        """What CLIR counts, and the returned pairs."""
        block = Detections((target,), truth[None], answers.returned[None])
        pairs = {"": Returned.of(block)}
        for factor in self.items:
            pairs[factor.name] = Returned.of(block.split(factor.cell, len(factor.levels) + 1))
        return PairsCounted(**vars(super().count(target, truth, answers)), pairs=pairs)

    def keep(self, target: str, counted: Counted) -> None:
        """Keep one query and its returned pairs."""
        super().keep(target, counted)
        assert isinstance(counted, PairsCounted), "counted by this very class"
        self.returned[target] = counted.pairs
        names = self.key.documents.texts()
        self.pairs[target] = [(target, names[at]) for at in np.flatnonzero(counted.returned)]

    def close(self, findings: Findings) -> None:
        """Check the whole, and hold the judgements against what was returned (M13, M14)."""
        super().close(findings)
        if self.judgements is not None and findings.valid and self.key.has_reference:
            pairs = [pair for query in self.units() for pair in self.pairs[query]]
            about = (self.judgements, pairs, self.judgements_name, findings)
            self.votes = votes_on(*about, shown=self.folders.shown, needed=self.unjudged == "refuse")

    @property
    def beta(self) -> float:
        """The beta of the CLIR values; `beta` is that of the end-to-end ones (M16)."""
        return float(self.settings["beta_clir"])

    def scores(self, system: str) -> Scores:
        """End-to-end values, and those of CLIR from the same decisions with the beta of CLIR (M16)."""
        if self.votes is None or self.judgements is None:
            return self._before_judges(system)
        votes = votes_of(
            self.votes.judge, self.votes.pair, self.votes.relevant, judges=self.votes.judges, items=self.votes.pairs
        )
        panel = panel_of(votes, Combination(**{name: self.settings[name] for name in JUDGING}))
        clir = super().scores(system)
        table = self._with_judges(panel)
        return replace(
            clir,
            task="e2e",
            metrics=(*(metric.bind(beta=self.settings["beta"]) for metric in METRICS), *clir.metrics),
            tables={**dict.fromkeys((metric.name for metric in METRICS), table), **clir.tables},
            primary=E2E_AQWV.name,
            digests={**clir.digests, "judgements": self.judgements.digest},
            notes=(*clir.notes, *_judgement_notes(panel)),
            flags={**clir.flags, **{f"e2e_{name}": flags for name, flags in clir.flags.items()}},
            parts={**clir.parts, E2E_AQWV.name: _agreement_parts(agreement(votes), self.votes)},
        )

    def _before_judges(self, system: str) -> Scores:
        """Retrieval alone, with end-to-end values that are not defined yet, where that is what was asked for (M13)."""
        if self.unjudged == "refuse":
            raise SettingError("End-to-end values need judgments of the summaries: give --judgements FILE.")
        self.settings = {**self.settings, "unjudged": self.unjudged}
        clir = super().scores(system)
        nothing = self.table(np.zeros((len(self.units()), len(COLUMNS))), COLUMNS)
        return replace(
            clir,
            task="e2e",
            metrics=(*(metric.bind(beta=self.settings["beta"]) for metric in METRICS), *clir.metrics),
            tables={**dict.fromkeys((metric.name for metric in METRICS), nothing), **clir.tables},
            primary=E2E_AQWV.name,
            notes=(*clir.notes, "Not all returned summaries have been judged yet: there are no end-to-end values."),
        )

    def _with_judges(self, panel: Panel) -> UnitRows:
        """The rows after the judges: a query is resampled with all its judgements as they are (S-24)."""
        returned = self._returned_sets("")
        table = self.table(rows_of_shares(returned, panel.shares()), COLUMNS)
        alone = partial(_single_judgements, returned, panel.votes)
        judged = JudgedRows(len(panel.votes) / max(panel.votes.items, 1), alone)
        return replace(table, levels=self._judged_levels(panel), judged=judged)

    def _returned_sets(self, factor: str) -> Returned:
        return Returned.join([self.returned[query][factor] for query in self.units()])

    def _judged_levels(self, panel: Panel) -> dict[str, dict[str, LevelRows]]:
        made: dict[str, dict[str, LevelRows]] = {}
        everything = np.arange(len(self.units()))
        for factor in self.items:
            rows = rows_of_shares(self._returned_sets(factor.name), panel.shares())
            by_level = rows.reshape(len(everything), len(factor.levels) + 1, len(COLUMNS))
            made[factor.name] = {
                level: LevelRows(everything, by_level[:, at]) for at, level in enumerate(factor.levels)
            }
        return made


def _single_judgements(returned: Returned, votes: Votes) -> Rows:
    """The rows as one judgement of each pair alone would make them, `[judgements, queries, s]`."""
    return rows_of_shares(returned, single_shares(votes))


def _judgement_notes(panel: Panel) -> tuple[str, ...]:
    """How judgements became verdicts: rule and tie rule stand in every report (M12, C08)."""
    notes = [f"Judgments were combined by: {panel.combination}."]
    if panel.fitted is not None:
        runs = panel.fitted.restarts
        notes.append(
            f"Dawid-Skene was started {len(runs)} times and the likeliest fit was kept; other ends would decide up to "
            f"{max(run.differing for run in runs)} pairs otherwise."
        )
    notes.append("Intervals of end-to-end values resample whole queries with all their judgments.")
    alone = int((panel.votes.per_item == 1).sum())
    if alone:
        notes.append(f"{alone} of {panel.votes.items} pairs have one judgment: agreement of judges on them is unknown.")
    return tuple(notes)


def _agreement_parts(found: Agreement, votes: PairVotes) -> dict[str, float]:
    parts = {
        "judged_pairs": float(votes.pairs),
        "judges": float(votes.judges),
        "judgements": float(len(votes.relevant)),
        "agreement": found.percent,
        "alpha": found.alpha,
    }
    return {name: value for name, value in parts.items() if not np.isnan(value)}


def open_e2e(
    inputs: Inputs, settings: Mapping[str, Any], findings: Findings, executor: Executor | None = None
) -> E2eRun | None:
    """Open key and judgements, and decide both betas."""
    pattern = re.compile(settings["document_pattern"])
    run = open_run(E2eRun, inputs, Opening(Layout(3, pattern), depth=DEPTH, limits=_limits), findings, executor)
    if run is None:
        return None
    schema = None if settings["schema"] is None else _bytes(Path(settings["schema"]))
    run.rules = summary_rules(settings["teams"], schema)
    if schema is not None:
        settings = {**settings, "schema": "sha256:" + member_digest(schema)}
    if inputs.judgements is not None:
        key = None if settings["judge_key"] is None else settings["judge_key"].encode()
        run.judgements_name = inputs.judgements.name
        run.judgements = read_judgements(_bytes(inputs.judgements), inputs.judgements.name, findings, key=key)
    run.unjudged = settings["unjudged"]
    run.settings = _settings_shown(run, settings, pattern)
    return run


def _settings_shown(run: E2eRun, settings: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """The settings that a result shows; the key that hides judges is not among them, nor what changes no value."""
    language = settings["language"] or language_of(run.key.documents.texts(), pattern)
    shown = {name: value for name, value in settings.items() if value is not None and name not in HIDDEN}
    if run.key.has_reference:
        with note_unscored(run):
            shown |= E2E_BETAS.values_for(settings, language)
            shown |= CLIR_BETAS.values_for({**settings, "cost": None}, language, name="beta_clir")
    return {**shown, "language": language, "plan": PLAN}


def _limits(key: Key) -> Limits:
    """Room for rows, and metadata and image of every pair; images are large and hardly shrink (M60, M85)."""
    members = len(key.queries) * (2 * len(key.documents) + 2) + 100
    return Limits(members=min(members, MOST_MEMBERS), total_bytes=MOST_BYTES)


def _bytes(path: Path) -> bytes:
    return read_bounded(path, LARGEST)


def _of(words: Any) -> Callable[[str], str]:
    """A setting that is one of a few words."""

    def parse(text: str) -> str:
        if text not in get_args(words):
            raise ValueError(f"it is not one of {', '.join(get_args(words))}")
        return text

    return parse


def _teams(text: str) -> tuple[str, ...]:
    teams = tuple(team.strip() for team in text.split(",") if team.strip())
    if not teams:
        raise ValueError("it names no team")
    return teams


TASK = Task(
    name="e2e",
    summary="End to end: retrieval with English summaries, judged by people",
    citation="IARPA MATERIAL evaluation plan v6.0.4 (2018), sections 3 and 4",
    unit="query",
    primary=E2E_AQWV.name,
    metrics=(*METRICS, *CLIR_METRICS),
    open=open_e2e,
    settings=(
        *E2E_BETAS.settings(),
        Setting("beta_clir", "beta of the CLIR values; from the language if not set.", number),
        Setting("judging", "binary (one verdict for each pair) or raw (shares of votes).", _of(Judging), "binary"),
        Setting("rule", "How votes become a verdict: majority, any, all or dawid_skene.", _of(Rule), "majority"),
        Setting("tie", "How a tie counts: N (not relevant) or R.", _of(Tie), "N"),
        Setting(
            "unjudged", "Summaries without a judgment: refuse, or undefined (no values yet).", _of(Unjudged), "refuse"
        ),
        Setting("teams", "The registered teams, separated by commas.", _teams, TEAMS),
        Setting("schema", "A JSON Schema for metadata, instead of the built-in one.", str),
        Setting("judge_key", "Secret of at least 16 characters that hides the names of crowd workers.", str),
        *(setting for setting in CLIR.settings if setting.name in ("document_pattern", "folds")),
    ),
    figures=detection_figures,
    compared_figures=compared_figures,
    depth=DEPTH,
    answers=AnswerFormat(
        "A .tgz archive with one folder for each query: its rows, and a summary of every returned "
        "document as a JSON file and an image.",
        example=(
            "MATERIAL_BASE-1A_82658021\tY\t0.9\tFLAIR.Alpha.query10633.MATERIAL_BASE-1A_82658021.json\n"
            "MATERIAL_BASE-1A_33326549\tN\t0.0075\n"
            "MATERIAL_BASE-1A_06142092\tN\t0.04\n"
        ),
        file="query10633/query10633.tsv",
        content="archive",
    ),
)
