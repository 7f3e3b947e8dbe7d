"""Ranking: documents ranked for each query, against TREC judgements (T-11)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from basanite.formats.archives.members import Digest
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.formats.retrieval.trec import Reader, ranked, read_qrels, read_run
from basanite.metrics.retrieval.ranking import COLUMNS, MAP, METRICS, VOORHEES, ranked_queries, rows
from basanite.problems import Findings, Problem, Where
from basanite.tasks import Inputs, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.setting_kinds import one_of, whole_number

RULE = "T-11"
QUERY = "query"
SUBMISSION = Place("submission", RULE)
MISSING, UNJUDGED = "not in the run: scored as 0", "without judgements: passed over"
NAMED = 5
"""So many odd queries are named one by one in any case."""
FIXED = "intervals are over queries; documents and judgements are held fixed"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """TREC qrels: the grades of each query's judged documents."""
    return _items(paths[0], read_qrels(_reader(paths[0], findings, "reference")))


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """A TREC run: each query's documents with their scores."""
    return _items(path, read_run(_reader(path, findings, "submission")))


def _reader(path: Path, findings: Findings, where: Where) -> Reader:
    return Reader(path, findings, where, names_files=False)


def _items(path: Path, read: Mapping[str, Mapping[str, Any]]) -> Items:
    queries = tuple(sorted(read))
    return Items(path.name, queries, tuple(read[query] for query in queries), (), file_digest(path))


def file_digest(path: Path) -> str:
    """The digest of one file as of an archive that holds it, read piece by piece."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    digest = Digest()
    digest.add(path.name, path.stat().st_size, content)
    return digest.value()


class RankingRun(ItemRun):
    """A run that need not answer every query: what it leaves out counts 0, what nobody judged is passed over."""

    def close(self, findings: Findings) -> None:
        """Tell of queries that are missing and of queries without judgements; neither stops the run."""
        if self.answers is None or self.reference is None:
            return
        given, judged = set(self.answers.ids), set(self.reference.ids)
        if not given:
            return  # a file without a single line that can be read has been told
        if given.isdisjoint(judged):
            message = f"none of your {len(given)} queries has judgements: is this the right data set?"
            fix = "send a run for the queries of this data set, with names as it has them"
            findings.add(SUBMISSION.problem(self.inputs.submission.name, None, message, fix, min(given)))
            return
        findings.extend(self._odd(sorted(judged - given), len(judged), MISSING, "rank documents for it"))
        findings.extend(self._odd(sorted(given - judged), len(given), UNJUDGED, "leave it out"))

    def _odd(self, queries: Sequence[str], of: int, what: str, fix: str) -> Iterator[Problem]:
        """A warning for each query, or one for all where they are most: then they have one cause (D-7)."""
        file = self.inputs.submission.name
        if len(queries) > max(NAMED, of / 2):
            message = f"{len(queries)} of {of} queries, such as {queries[0]!r}, {what}"
            yield SUBMISSION.problem(
                file, None, message, "see whether it is the right data set", queries[0], severity="warn"
            )
            return
        for query in queries:
            yield SUBMISSION.problem(file, None, f"query {query!r} {what}", fix, query, severity="warn")

    def pairs(self) -> Pairs:
        """Grades and scores of every judged query."""
        truth, answers = self.reference, self.answers
        assert truth is not None  # there is nothing to score without judgements
        assert answers is not None  # only a run that was read is scored
        given = dict(zip(answers.ids, answers.content, strict=True))
        return Pairs(self.spec.unit, truth.ids, truth.content, tuple(given.get(name, {}) for name in truth.ids))


def count(pairs: Pairs, settings: Settings) -> Counted:
    """The contribution of every judged query."""
    qrels = dict(zip(pairs.units, pairs.references, strict=True))
    rankings = {name: ranked(scores) for name, scores in zip(pairs.units, pairs.answers, strict=True) if scores}
    block = ranked_queries(qrels, rankings, least=settings["least"])
    table = pairs.table(COLUMNS, rows(block))  # queries are in the same order on both sides: that of their names
    left_out = settings["without_relevant"] == "leave_out"
    bound = (metric.bind(without_relevant=settings["without_relevant"]) for metric in METRICS)
    metrics = tuple(replace(m, carrier=m.carrier or "with_relevant") if left_out else m for m in bound)
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=(FIXED, *_said(block.relevant.tolist(), len(rankings), left_out=left_out)),
        parts={MAP.name: {"relevant": int(block.relevant.sum()), "unanswered": len(qrels) - len(rankings)}},
        signatures={metric.name: _signature(settings) for metric in metrics},
    )


def _said(relevant: Sequence[float], answered: int, *, left_out: bool) -> tuple[str, ...]:
    """What must be known of queries that count 0 or not at all."""
    empty = sum(not number for number in relevant)
    fate = "are left out" if left_out else "count 0, as in trec_eval (without_relevant=leave_out leaves them out)"
    notes = (f"queries without relevant documents: {empty}; they {fate}; map11 is undefined for them",) if empty else ()
    silent = len(relevant) - answered
    return (*notes, f"judged queries that are not in the run and count 0: {silent}") if silent else notes


def _signature(settings: Settings) -> str:
    gains = "linear gains, negative grades as 0"
    return f"ties by document id descending; float64 scores; {gains}; relevant from grade {settings['least']}"


SPEC = ItemSpec(
    name="ranking",
    unit=QUERY,
    rule=RULE,
    primary=MAP.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
    id_name=QUERY,
)


def open_ranking(
    inputs: Inputs, settings: Settings, findings: Findings, executor: Executor | None = None
) -> RankingRun | None:
    """Open the judgements."""
    run = opener(SPEC)(inputs, settings, findings, executor)
    if run is None:
        return None
    return RankingRun(SPEC, inputs, settings, run.reference, run.tables, findings.limit)


TASK = Task(
    name="ranking",
    summary="Ranked retrieval: TREC runs against TREC judgements",
    citation=VOORHEES,
    unit=QUERY,
    primary=MAP.name,
    metrics=METRICS,
    open=open_ranking,
    settings=(
        Setting("least", "The lowest grade that counts as relevant.", partial(whole_number, 1, 10**9), 1),
        Setting(
            "without_relevant",
            "What becomes of queries without relevant documents: zero (as in trec_eval) or leave_out.",
            partial(one_of, ("zero", "leave_out")),
            "zero",
        ),
    ),
)
