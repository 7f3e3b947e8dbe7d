"""Segments of translations as judges saw them, and what systems are worth: judge and document are random factors.

Scores of different language pairs have no common scale, and their segments share nothing but numbers: systems are
ranked inside a pair, and a document of one pair or domain is never taken for one of another (T-24).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from basanite.metrics.judgement.error_spans import (
    MQM_WEIGHTS,
    Error,
    Judgements,
    mqm_score,
    standard_scores,
    system_intervals,
)
from basanite.metrics.judgement.estimate import Estimate
from basanite.work.answers import Judged, Judgement
from basanite.work.items import Item
from basanite.work.scheme import Scheme

REAL, CONTROL = "TGT", "BAD"
TUTORIAL = re.compile(r"(?:^|[-_#./ ])tutorial[-_]?\d*(?:$|[-_#./ ])", re.IGNORECASE)
"""How Appraise names the documents that teach judges, and the systems that seem to have translated them."""
FILLERS = {"bad": "quality-control items", "incomplete": "fillers from incomplete documents", "dup": "repeated fillers"}
"""What the end of a document's name says of items that only fill or check a judge's batch."""
REVISED = "judgments that the same judge revised"
_DOMAIN = re.compile(r"test-[a-z]{2,3}-([a-z]+)_")
"""Names of documents since WMT24 begin with the test set, the language and the domain."""


@dataclass(frozen=True)
class Span:
    """A marked error: half open, in code points of the target; nothing marked (0, 0) is something missing there."""

    start: int
    end: int
    severity: str
    category: str = ""


@dataclass(frozen=True)
class Segment:
    """One segment of one system's translation of a document, judged by one judge."""

    system: str
    document: str
    segment: str
    judge: str
    score: float | None = None
    errors: tuple[Span, ...] | None = None
    """None where errors were not asked for; nothing where there are none."""
    kind: str = REAL
    source: str = ""
    target: str = ""
    source_lang: str = ""
    target_lang: str = ""
    start: float = 0.0
    end: float = 0.0
    """Seconds, of which only the difference is known here."""
    domain: str = ""
    repeat: bool = False
    """Whether the judge was shown a translation again on purpose: such a judgement counts beside the first one."""

    @property
    def pair(self) -> str:
        """The language pair, such as `eng-ces`; empty where no language is named."""
        return "-".join(name.strip().casefold() for name in (self.source_lang, self.target_lang)).strip("-")

    @property
    def place(self) -> tuple[str, str, str]:
        """The domain, document and segment that was translated, which all systems of a pair share."""
        return self.domain, self.document, self.segment


@dataclass(frozen=True)
class SystemScore:
    """What a system is worth, with an interval over documents and judges, and how much was judged."""

    system: str
    value: Estimate
    segments: int
    documents: int
    judges: int


def segments_of(scheme: Scheme, items: Sequence[Item], judged: Judged) -> tuple[Segment, ...]:
    """All judgements of translations, one for each segment, system and judge."""
    by_id = {item.id: item for item in items}
    known = sorted((each for each in judged.judgements if each.item in by_id), key=lambda each: (each.item, each.judge))
    return tuple(
        _segment(scheme, by_id[each.item], facts, each) for each in known for facts in by_id[each.item].all_facts
    )


def _segment(scheme: Scheme, item: Item, facts: Mapping[str, str], each: Judgement) -> Segment:
    score = next((each.answers.get(q.id) for q in scheme.questions if q.numeric), None)
    spans = next((each.answers.get(q.id, []) for q in scheme.questions if q.widget == "spans"), None)
    return Segment(
        facts.get("system", ""),
        facts.get("document", ""),
        facts.get("segment", item.id),
        each.judge,
        None if score is None else float(score),
        None if spans is None else tuple(_span(span) for span in spans),
        REAL if item.role == "real" else CONTROL,
        _text(item, "document"),
        _text(item, "text"),
        facts.get("source_lang", ""),
        facts.get("target_lang", ""),
        0.0,
        each.seconds,
    )


def _span(raw: Mapping[str, object]) -> Span:
    start, end = int(str(raw["start"])), int(str(raw["end"]))
    return Span(start, end, str(raw.get("severity", "")), str(raw.get("category", "")))


def _text(item: Item, kind: str) -> str:
    return next((block.value for block in item.blocks if block.kind == kind), "")


def score_of_errors(segment: Segment, weights: Mapping[str, float] = MQM_WEIGHTS) -> float:
    """What the errors of a segment take away: 0 is faultless, -25 the worst.

    >>> score_of_errors(Segment("A", "d", "1", "ann", errors=(Span(0, 2, "major"), Span(3, 4, "minor"))))
    -6.0
    """
    lowered = {name.casefold(): weight for name, weight in weights.items()}
    errors = [Error(span.severity, span.category) for span in segment.errors or ()]
    return -mqm_score(errors, weights=lowered) + 0.0


def domain_of(document: str) -> str:
    """The domain that a document's name tells.

    >>> domain_of("test-en-news_euronews-en.43091")
    'news'
    """
    found = _DOMAIN.match(document)
    return found[1] if found else ""


def reason_to_leave_out(segment: Segment) -> str:
    """What an item is that no system is to be scored by; empty for a translation under test.

    >>> reason_to_leave_out(Segment("ende-tutorial1", "ende-tutorial1", "1000001", "ann", 0.0))
    'tutorial items'
    """
    if TUTORIAL.search(segment.system) or TUTORIAL.search(segment.document):
        return "tutorial items"
    if segment.kind != REAL:
        return FILLERS["bad"]
    endings = segment.document.casefold().split("#")[1:]
    return next((FILLERS[ending] for ending in endings if ending in FILLERS), "")


@dataclass(frozen=True)
class Selection:
    """The judgements that count, by language pair, and how many were left out for which reason."""

    pairs: Mapping[str, tuple[Segment, ...]]
    left_out: Mapping[str, int]


def select(segments: Sequence[Segment]) -> Selection:
    """Judgements of translations under test by language pair; where a judge came back to one, the last counts."""
    counted: Counter[str] = Counter()
    latest: dict[tuple[object, ...], Segment] = {}
    for at, each in enumerate(segments):
        clock = None if each.end else at  # without times nobody knows which of two is the revision: both count
        shown = each.pair, each.judge, each.system, each.place, each.repeat, clock
        reason = reason_to_leave_out(each) or (REVISED if shown in latest else "")
        if reason in ("", REVISED) and (shown not in latest or each.end >= latest[shown].end):
            latest[shown] = each
        counted[reason] += 1
    del counted[""]
    pairs: dict[str, list[Segment]] = {}
    for each in latest.values():
        pairs.setdefault(each.pair, []).append(each)
    return Selection({name: tuple(pairs[name]) for name in sorted(pairs)}, dict(sorted(counted.items())))


def _own_score(segment: Segment) -> float | None:
    return segment.score if segment.score is not None else score_of_errors(segment)


def system_scores(
    segments: Sequence[Segment],
    *,
    value: Callable[[Segment], float | None] = _own_score,
    standardise: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> tuple[SystemScore, ...]:
    """The mean of each system over its segments, best first; intervals resample documents and judges (R-29).

    All segments are of one language pair: there is no ranking across pairs (T-24). `standardise` takes away each
    judge's own mean and spread first, as is the custom with direct assessment. Segments without a document are drawn
    one by one.
    """
    if len({each.pair for each in segments}) > 1:
        raise ValueError("segments of several language pairs have no common scale")
    pairs = [(each, value(each)) for each in segments if not reason_to_leave_out(each)]
    known = [(each, given) for each, given in pairs if given is not None]
    if not known:
        return ()
    systems, system = _numbers([each.system for each, _ in known])
    _, judge = _numbers([each.judge for each, _ in known])
    _, document = _numbers([each.place[:2] if each.document else each.place for each, _ in known])
    _, segment = _numbers([each.place for each, _ in known])
    numbers = np.array([given for _, given in known], np.float64)
    scores = standard_scores(numbers, judge) if standardise else numbers
    found = system_intervals(Judgements(scores, system, segment, document, judge), draws=draws, seed=seed)
    made = [
        SystemScore(name, found[at], *_sizes([each for each, _ in known if each.system == name]))
        for at, name in enumerate(systems)
    ]
    return tuple(sorted(made, key=lambda one: (-one.value.value, one.system)))


def _sizes(mine: Sequence[Segment]) -> tuple[int, int, int]:
    documents = {each.place[:2] for each in mine if each.document}
    return len({each.place for each in mine}), len(documents), len({each.judge for each in mine})


def _numbers(names: Sequence[object]) -> tuple[list[str], np.ndarray]:
    known = sorted(set(names), key=str)
    place = {name: at for at, name in enumerate(known)}
    return [str(name) for name in known], np.array([place[name] for name in names], np.int64)
