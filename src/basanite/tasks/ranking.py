"""Ranking: documents ranked for each query, against TREC judgements (T-11), by any measure that is named (T-13)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from basanite.errors import SettingError
from basanite.formats.archives.members import Digest
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.formats.retrieval.trec import rank_documents, read_judgements, read_run
from basanite.formats.retrieval.trec_lines import Reader
from basanite.kernel import Metric
from basanite.metrics.retrieval.measure_names import (
    EXAMPLES,
    VALUE_COLUMNS,
    RankedBlock,
    key_of,
    metric_of,
    read_measure,
)
from basanite.metrics.retrieval.measures import Ranked, exponential_gain, stated_gain
from basanite.metrics.retrieval.ranking import (
    COLUMNS,
    MAP,
    METRICS,
    VOORHEES,
    Gain,
    linear_gain,
    ranked_grades,
    ranked_queries,
    rows,
)
from basanite.problems import Findings, Problem, Where
from basanite.tasks import AnswerFormat, Inputs, Setting, Task
from basanite.tasks.explanations.retrieval import RANKING
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.settings import number_or_nan, one_of, whole_number, yes_or_no

RULE = "T-11"
QUERY = "query"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
MISSING, UNJUDGED = "not in the run: scored as 0", "without judgments: ignored"
NAMED = 5
"""So many odd queries are named one by one in any case."""
LEAVE_OUT: Final = "leave_out"
FIXED = "intervals are over queries; documents and judgments are held fixed"


SUBTOPICS = "judgments are by subtopic (the second column): a document has its highest grade"
EXPONENTIAL: Final = "exp"


class Judged(NamedTuple):
    """What is known of one query: the grades of its documents, and of which subtopics each is."""

    grades: Mapping[str, int]
    parts: Mapping[str, frozenset[str]]


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """TREC qrels: the grades of each query's judged documents."""
    read = read_judgements(_reader(paths[0], findings, "reference"))
    if read.repeated:
        fix = "nothing if that is right; else judge each document once for a query"
        findings.add(REFERENCE.problem(paths[0].name, None, SUBTOPICS, fix, severity="warn"))
    judged = {
        query: Judged(grades, {name: frozenset(parts) for name, parts in read.parts.get(query, {}).items()})
        for query, grades in read.grades.items()
    }
    return _items(paths[0], judged)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """A TREC run: each query's documents with their scores."""
    return _items(path, read_run(_reader(path, findings, "submission")))


def _reader(path: Path, findings: Findings, where: Where) -> Reader:
    return Reader(path, findings, where, names_files=False)


def _items(path: Path, read: Mapping[str, Any]) -> Items:
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
            message = f"none of your {len(given)} queries has judgments: is this the right data set?"
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
        everything = self.settings["unanswered"] != LEAVE_OUT
        kept = {
            name: judged for name, judged in zip(truth.ids, truth.content, strict=True) if everything or name in given
        }
        return Pairs(self.spec.unit, tuple(kept), tuple(kept.values()), tuple(given.get(name, {}) for name in kept))

    def count_pairs(self, pairs: Pairs) -> Counted:
        """The registered metrics, and the measures that were asked for by name."""
        counted = super().count_pairs(pairs)
        known = {metric.name for metric in counted.metrics}
        names = [name for name in dict.fromkeys(map(key_of, self.inputs.metrics)) if name not in known]
        measures = [measure for name in names if (measure := read_measure(name)) is not None]
        if any(measure.family.by_part for measure in measures):
            _check_subtopics(pairs)
        block = ranked_block(pairs, self.settings)
        made = {measure.name: metric_of(measure) for measure in measures}
        if block.leave_out:  # an interval needs queries that carry the metric where others are left out
            made = {name: replace(metric, carrier=VALUE_COLUMNS[1]) for name, metric in made.items()}
        return replace(
            counted,
            metrics=(*counted.metrics, *made.values()),
            tables={
                **counted.tables,
                **{name: pairs.table(VALUE_COLUMNS, metric.statistics(block)) for name, metric in made.items()},
            },
            signatures={
                **counted.signatures,
                **{measure.name: f"{measure.words}; {_signature(self.settings)}" for measure in measures},
            },
        )


def _check_subtopics(pairs: Pairs) -> None:
    """Refuse qrels in which the second column says nothing: alpha-nDCG would be another measure then."""
    there = frozenset[str]().union(*(part for judged in pairs.references for part in judged.parts.values()))
    if len(there) < 2:
        raise SettingError(
            "alpha-nDCG and StRecall need judgments by subtopic: name the subtopic in the second column of the qrels, "
            "as ndeval has it (query subtopic document relevance)."
        )


def make_measure(name: str) -> Metric | None:
    """The metric of a measure by its name; the registered one where it is called the same."""
    registered = {metric.name: metric for metric in METRICS}
    measure = read_measure(name)
    return registered.get(key_of(name)) or (metric_of(measure) if measure is not None else None)


def ranked_block(pairs: Pairs, settings: Settings) -> RankedBlock:
    """The queries as measures see them: grades of each ranking from the top down, and all grades of the query."""
    gain = _gain(settings)
    queries = []
    for judged, scores in zip(pairs.references, pairs.answers, strict=True):
        ranking = _ranking(scores, judged, settings)
        pool = np.fromiter(judged.grades.values(), np.int64, len(judged.grades))
        parts = [judged.parts.get(name, frozenset()) for name in ranking]
        known = [judged.parts.get(name, frozenset()) for name in sorted(judged.grades)]
        queries.append(Ranked(ranked_grades(ranking, judged.grades), pool, settings["least"], gain, parts, known))
    return RankedBlock(pairs.units, queries, settings["without_relevant"] == LEAVE_OUT)


def _ranking(scores: Mapping[str, float], judged: Judged, settings: Settings) -> list[str]:
    """The documents of a query that count, best first: trec_eval cuts at -M first, then leaves out for -J."""
    ranking = rank_documents(scores)[: settings["depth"]]
    if settings["judged_only"]:
        return [name for name in ranking if judged.grades.get(name, -1) >= 0]
    return ranking


def _gain(settings: Settings) -> Gain:
    if settings["gain"] is None:
        return linear_gain
    return exponential_gain if settings["gain"] == EXPONENTIAL else partial(stated_gain, stated=settings["gain"])


def count(pairs: Pairs, settings: Settings) -> Counted:
    """The contribution of every judged query."""
    qrels = {name: judged.grades for name, judged in zip(pairs.units, pairs.references, strict=True)}
    judged = dict(zip(pairs.units, pairs.references, strict=True))
    answers = zip(pairs.units, pairs.answers, strict=True)
    rankings = {name: _ranking(scores, judged[name], settings) for name, scores in answers if scores}
    block = replace(ranked_queries(qrels, rankings, least=settings["least"]), gain=_gain(settings))
    table = pairs.table(COLUMNS, rows(block))  # queries are in the same order on both sides: that of their names
    left_out = settings["without_relevant"] == LEAVE_OUT
    bound = (metric.bind(without_relevant=settings["without_relevant"]) for metric in METRICS)
    metrics = tuple(replace(m, carrier=m.carrier or "with_relevant") if left_out else m for m in bound)
    return Counted(
        metrics,
        dict.fromkeys((metric.name for metric in metrics), table),
        notes=(FIXED, *_query_notes(block.relevant.tolist(), len(rankings), left_out=left_out)),
        parts={MAP.name: {"relevant": int(block.relevant.sum()), "unanswered": len(qrels) - len(rankings)}},
        signatures={metric.name: _signature(settings) for metric in metrics},
    )


def _query_notes(relevant: Sequence[float], answered: int, *, left_out: bool) -> tuple[str, ...]:
    """What must be known of queries that count 0 or not at all."""
    empty = sum(not number for number in relevant)
    fate = "are left out" if left_out else "count 0, as in trec_eval (without_relevant=leave_out leaves them out)"
    notes = (f"queries without relevant documents: {empty}; they {fate}; map11 is undefined for them",) if empty else ()
    silent = len(relevant) - answered
    return (*notes, f"judged queries that are not in the run and count 0: {silent}") if silent else notes


def _signature(settings: Settings) -> str:
    gains = {None: "linear", EXPONENTIAL: "exponential"}.get(settings["gain"]) or "stated"
    parts = [
        "ties by document id descending; float64 scores",
        f"{gains} gains, negative grades as 0",
        f"relevant from grade {settings['least']}",
        *([f"first {settings['depth']} documents"] if settings["depth"] else ()),
        *(["judged documents only"] if settings["judged_only"] else ()),
        *(["queries of the run only"] if settings["unanswered"] == LEAVE_OUT else ()),
    ]
    return "; ".join(parts)


def gains_of_grades(text: str) -> str | tuple[tuple[int, float], ...]:
    """How much a document of each grade is worth: `exp`, or stated as in trec_eval.

    >>> gains_of_grades("1=3,2=9"), gains_of_grades("exp")
    (((1, 3.0), (2, 9.0)), 'exp')
    """
    if text.strip() == EXPONENTIAL:
        return EXPONENTIAL
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(grade.strip().isdigit() and 0 <= number_or_nan(gain) < float("inf") for grade, _, gain in pairs):
        raise ValueError("it is neither exp nor a list of grade=gain")
    if any(int(grade) == 0 for grade, *_ in pairs):
        raise ValueError("grade 0 has no gain here")
    return tuple((int(grade), float(gain)) for grade, _, gain in pairs)


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
    summary="Ranked retrieval: TREC runs scored against relevance judgments",
    citation=VOORHEES,
    unit=QUERY,
    primary=MAP.name,
    metrics=METRICS,
    open=open_ranking,
    settings=(
        Setting(
            "least", "The lowest grade that counts as relevant (trec_eval -l).", partial(whole_number, 1, 10**9), 1
        ),
        Setting(
            "without_relevant",
            "How to treat queries without relevant documents: zero (as in trec_eval) or leave_out.",
            partial(one_of, ("zero", LEAVE_OUT)),
            "zero",
        ),
        Setting(
            "unanswered",
            "How to treat judged queries that the run lacks: zero (trec_eval -c) or leave_out (without -c).",
            partial(one_of, ("zero", LEAVE_OUT)),
            "zero",
        ),
        Setting(
            "gain",
            "Gains of grades in nDCG: exp (2^grade - 1), or stated like 1=3,2=9; else each grade is its own gain.",
            gains_of_grades,
        ),
        Setting("judged_only", "Leave out unjudged documents (trec_eval -J).", yes_or_no),
        Setting("depth", "The maximum number of documents per query (trec_eval -M).", partial(whole_number, 1, 10**9)),
    ),
    make_metric=make_measure,
    metric_examples=EXAMPLES,
    explanations=RANKING,
    answers=AnswerFormat(
        "A TREC run: query, Q0, document, rank, score and the name of the run, separated by blanks. "
        "Scores order the documents.",
        example=("q01 Q0 doc050 1 6.34 alpha\nq01 Q0 doc047 2 5.91 alpha\nq01 Q0 doc010 3 3.91 alpha\n"),
    ),
)
