"""Kinds of ranking: runs, relevance judgments, and what evaluation tools print."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.kinds.kind import INTEGER, NUMBER, Beginning, Kind, every_row_but

_PRINTED = re.compile(
    r"(?:runid|num_\w+|relstring\w*|map\w*|gm_\w+|Rprec\w*|R?ndcg\w*|bpref|recip_rank|infAP|11pt_avg"
    r"|(?:P|recall|success|relative_P|iprec_at_recall|set|utility|G|binG|yaap|unj|judged)(?:_\S+)?)"
    r"\s+\S+\s+\S+"
)


def _is_iteration(cell: str) -> bool:
    return cell == "Q0" or bool(INTEGER.fullmatch(cell))


_has_q0 = every_row_but("#", lambda row: len(row) >= 6 and row[1] == "Q0" and bool(NUMBER.fullmatch(row[4])))
_has_ranks = every_row_but(
    "#", lambda row: len(row) == 6 and bool(INTEGER.fullmatch(row[3])) and bool(NUMBER.fullmatch(row[4]))
)


def _is_run(start: Beginning) -> bool:
    """A run by its `Q0`; or, where another word stands there, by ranks that count up while the scores fall."""
    if _has_q0(start) or not _has_ranks(start):
        return _has_q0(start)
    before: dict[str, list[str]] = {}
    counted = 0
    for row in start.rows:
        last = before.get(row[0])
        if last is not None:
            if int(row[3]) != int(last[3]) + 1 or float(row[4]) > float(last[4]):
                return False
            counted += 1
        before[row[0]] = row
    return counted > 0


RUN: Final = Kind(
    "a TREC run",
    _is_run,
    (".run",),
    "the task ranking reads it as a submission",
    commands=(
        "score ranking QRELS {path}",
        "convert run {path} --documents LIST --top N --out SUBMISSION.tgz",
    ),
    sign="six fields per line or more, the second is `Q0`, the fifth a number; or ranks count up while scores fall",
    record="ranked document",
    fields=("query", "Q0", "document", "rank", "score", "tag"),
    comment="#",
)
QRELS: Final = Kind(
    "TREC qrels",
    every_row_but("#", lambda row: len(row) == 4 and _is_iteration(row[1]) and bool(INTEGER.fullmatch(row[3]))),
    (".qrels",),
    "the task ranking reads them as a reference",
    commands=("score ranking {path} RUN", "convert qrels {path} --documents LIST --out KEY"),
    sign="four fields per line, the second is a whole number or `Q0`, the fourth a whole number",
    record="judgment",
    fields=("query", "iteration", "document", "relevance"),
    comment="#",
)
PRELS: Final = Kind(
    "judgments with the probability of each in the sample (prels)",
    every_row_but(
        "#",
        lambda row: (
            len(row) == 5
            and all(map(INTEGER.fullmatch, row[2:4]))
            and bool(NUMBER.fullmatch(row[4]))
            and 0 < float(row[4]) <= 1
        ),
    ),
    (".prels",),
    "measures of sampled judgments are not made here; for any other, write query 0 document relevance",
    sign="five fields per line: the third and fourth are whole numbers, the fifth is above 0 and at most 1",
    record="judgment",
    fields=("query", "document", "relevance", "method", "probability"),
    comment="#",
)
PREFS: Final = Kind(
    "preferences of several judges (prefs)",
    every_row_but(
        "#",
        lambda row: (
            len(row) == 5
            and bool(NUMBER.fullmatch(row[4]))
            and bool(re.search(r"\d", row[3]))
            and not NUMBER.fullmatch(row[3])
        ),
    ),
    (".prefs",),
    "measures of preferences are not made here; write one grade per document: query 0 document relevance",
    sign="five fields per line: the fourth is a document with a digit in its name, the fifth a number",
    record="judgment",
    fields=("query", "judge", "group", "document", "preference"),
    comment="#",
)
BEIR: Final = Kind(
    "BEIR qrels",
    lambda start: bool(start.rows) and start.rows[0] in (["query-id", "corpus-id", "score"],),
    (".tsv",),
    "the task ranking reads them as a reference",
    commands=("score ranking {path} RUN",),
    sign="the header is `query-id`, `corpus-id`, `score`",
    record="judgment",
    fields=("query-id", "corpus-id", "score"),
    comment="query-id",
)
TREC_EVAL: Final = Kind(
    "what trec_eval printed",
    lambda start: bool(start.lines) and all(_PRINTED.fullmatch(line.strip()) for line in start.lines),
    (),
    "give the run itself",
    hint="`basanite convert trec-eval` makes a result of it",
    commands=("convert trec-eval {path} --out RESULT.json",),
    sign="three fields per line, the first is a measure of trec_eval",
    record="value",
    fields=("measure", "query", "value"),
)
