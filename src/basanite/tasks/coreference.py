"""Coreference: which mentions are of one entity, scored as the reference scorers do it (T-19)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite import __version__
from basanite.figures import Extract
from basanite.formats.items import Items
from basanite.formats.records import Place
from basanite.formats.texts.coreference import Document, Documents, Mention, Word, mentions_once, read_coreference
from basanite.metrics.matching import best_matching
from basanite.metrics.text.coreference import CONLL, METRICS, PRADHAN, Resolved, shares_of, statistics
from basanite.problems import Findings, Problem
from basanite.tasks import AnswerFormat, Setting, Task
from basanite.tasks.items import Counted, ItemRun, ItemSpec, Pairs, Settings, opener
from basanite.tasks.moved_units import moved_figures
from basanite.tasks.settings import one_of

RULE: Final = "T-19"
REFERENCE, SUBMISSION = Place("reference", RULE), Place("submission", RULE)
AUTO, YES, NO = "auto", "yes", "no"
EXACT, HEAD = "exact", "head"
TWICE: Final = "a mention is marked twice: if the reference has it, the first time counts"
SPLIT: Final = "antecedents of several entities (SplitAnte) are ignored, as the CorefUD scorer does"


def read_reference(paths: Sequence[Path], settings: Settings, findings: Findings) -> Items | None:
    """The documents of the reference, with what is known of them."""
    return _items(read_coreference(paths[0], REFERENCE, findings), REFERENCE, findings)


def read_submission(path: Path, settings: Settings, findings: Findings) -> Items | None:
    """The documents of a system."""
    return _items(read_coreference(path, SUBMISSION, findings), SUBMISSION, findings)


def _items(read: Documents | None, place: Place, findings: Findings) -> Items | None:
    if read is None:
        return None
    names = [one.name for one in read.documents]
    for name, number in Counter(names).items():
        if number > 1:
            message = f"document {name!r} stands {number} times"
            findings.add(place.problem(read.file, None, message, "give each document a name of its own", name))
    for one in read.documents:
        for _, mention, twice in mentions_once(one):
            if twice:
                line = one.lines[mention]
                findings.add(place.problem(read.file, line, TWICE, "mark it once", severity="warn", kind="twice"))
    if read.split:
        findings.add(place.problem(read.file, None, SPLIT, "nothing if that is right", severity="warn", kind="split"))
    known = dict.fromkeys(key for one in read.documents for key in one.facts)
    columns = {key: tuple(one.facts.get(key, "") for one in read.documents) for key in known}
    lines = [one.line for one in read.documents]
    content = tuple((one, read.universal) for one in read.documents)
    return Items(read.file, tuple(names), content, lines, read.digest, columns)


class CoreferenceRun(ItemRun):
    """Documents by their names; both sides must have the same words."""

    def close(self, findings: Findings) -> None:
        """Check that every document is there, with its words."""
        super().close(findings)
        if self.reference is not None and self.answers is not None and findings.valid:
            findings.extend(_other_words(self.reference, self.answers))


def _other_words(truth: Items, answers: Items) -> Iterator[Problem]:
    """For each document the first sentence that is another one."""
    given = dict(zip(answers.ids, answers.content, strict=True))
    for name, (ours, universal) in zip(truth.ids, truth.content, strict=True):
        theirs, other = given[name]
        if universal != other:
            message = "one file is CorefUD, the other one CoNLL-2012"
            yield SUBMISSION.problem(answers.file, None, message, "give both in the same format")
            return
        sides = [[one.split() for one in side.words if one] for side in (ours, theirs)]
        at = next((n for n, (a, b) in enumerate(zip(*sides, strict=False), start=1) if a != b), None)
        if at is None and len(sides[0]) != len(sides[1]):
            at = min(map(len, sides)) + 1
        if at is not None:
            message = f"sentence {at} of document {name!r} has other words than in the reference"
            fix = "mark entities in the words of the reference, and change nothing else"
            yield SUBMISSION.problem(answers.file, theirs.line, message, fix, name)


Marked = list[list[Mention]]
Words = tuple[Word, ...]
Key = tuple[Words, Word | None]
"""What two mentions that are the same have in common: their words, and their head where heads are compared."""


def _entities(document: Document, *, singletons: bool, once: Container[Words] | None = None) -> Marked:
    """The mentions of each entity; of those that are marked twice, the first, if they are among these."""
    found: dict[str, list[Mention]] = {}
    for name, mention, twice in mentions_once(document):
        if not twice or (once is not None and mention.words not in once):
            found.setdefault(name, []).append(mention)
    return [mentions for mentions in found.values() if singletons or len(mentions) > 1]


def _mention_numbers(gold: Marked, answers: Marked, *, heads: bool) -> tuple[list[list[int]], list[list[int]]]:
    """Mentions as numbers, the same one for mentions of both sides that are the same."""

    def key(mention: Mention) -> Key:
        return mention.words, mention.head if heads else None

    number = {key(mention): at for at, mention in enumerate(one for entity in gold for one in entity)}
    same = {key(one): number[key(one)] for entity in answers for one in entity if key(one) in number}
    if heads:
        left = [[one for entity in side for one in entity if key(one) not in same] for side in (gold, answers)]
        same |= {key(theirs): number[key(ours)] for ours, theirs in _by_head(*left)}
    spurious = dict.fromkeys(key(one) for entity in answers for one in entity if key(one) not in same)
    same |= {one: at for at, one in enumerate(spurious, start=len(number))}
    ours = [[number[key(mention)] for mention in entity] for entity in gold]
    theirs = [[same[key(mention)] for mention in entity] for entity in answers]
    return ours, theirs


def _by_head(gold: Sequence[Mention], answers: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
    """Pairs of mentions with the same head; of several, those that share most words of the reference's."""
    sides: list[dict[Word | None, list[Mention]]] = [{}, {}]
    for groups, mentions in zip(sides, (gold, answers), strict=True):
        for mention in sorted(mentions, key=_order):
            groups.setdefault(mention.head, []).append(mention)
    for head, ours in sides[0].items():
        theirs = sides[1].get(head, [])
        table = np.array([[len({*one.words} & {*other.words}) / len(one.words) for other in theirs] for one in ours])
        for row, column in _assignment(table) if theirs else ():
            if table[row, column] > 0:
                yield ours[row], theirs[column]


def _assignment(table: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    if table.size == 1:
        return iter(((0, 0),))
    rows, columns = best_matching(table)
    return zip(rows.tolist(), columns.tolist(), strict=True)


def _order(mention: Mention) -> list[tuple[int, float]]:
    return [(sentence, float(word)) for sentence, word in mention.words]


def count(pairs: Pairs, settings: Settings) -> Counted:
    """What each document contributes to every measure."""
    universal = pairs.references[0][1]
    singletons = settings["singletons"] == YES or (settings["singletons"] == AUTO and not universal)
    match = (HEAD if universal else EXACT) if settings["match"] == AUTO else settings["match"]
    numbered = []
    for (ours, _), (theirs, _) in zip(pairs.references, pairs.answers, strict=True):
        gold = _entities(ours, singletons=singletons)
        known = None if universal else {mention.words for entity in gold for mention in entity}
        answers = _entities(theirs, singletons=singletons, once=known)
        numbered.append(_mention_numbers(gold, answers, heads=match == HEAD and universal))
    block = Resolved([ours for ours, _ in numbered], [theirs for _, theirs in numbered])
    table = pairs.table(CONLL.columns, statistics(block))
    shown = "counted" if singletons else "left out"
    signature = f"singletons:{shown}|match:{match}|basanite:{__version__}"
    return Counted(
        tuple(metric.bind(either=universal) for metric in METRICS),
        dict.fromkeys((metric.name for metric in METRICS), table),
        notes=(f"entities of one mention are {shown}",),
        parts={metric.name: shares_of(table.rows, metric.name, either=universal) for metric in METRICS},
        signatures={metric.name: f"{metric.name}|{signature}" for metric in METRICS},
    )


def _extracts(truth: tuple[Document, bool], answers: Mapping[str, tuple[Document, bool]]) -> tuple[Extract, ...]:
    """How many mentions and entities each side has."""
    sides = {"Reference": truth, **answers}
    return tuple(Extract(name, ((_mentions_summary(document), ""),)) for name, (document, _) in sides.items())


def _mentions_summary(document: Document) -> str:
    sizes = [len(mentions) for mentions in document.entities.values()]
    return f"{sum(sizes)} mentions of {len(sizes)} entities, {sum(size == 1 for size in sizes)} of them mentioned once"


SPEC = ItemSpec(
    name="coreference",
    unit="document",
    rule=RULE,
    primary=CONLL.name,
    read_reference=read_reference,
    read_submission=read_submission,
    count=count,
)
TASK = Task(
    name="coreference",
    summary="Coreference resolution: MUC, B-cubed, CEAF, BLANC, LEA and the CoNLL mean",
    citation=PRADHAN,
    unit="document",
    primary=CONLL.name,
    metrics=METRICS,
    open=opener(SPEC, CoreferenceRun),
    settings=(
        Setting(
            "singletons",
            "Whether singletons count: yes, no, or auto (no in CorefUD, like its scorer).",
            partial(one_of, (AUTO, YES, NO)),
            AUTO,
        ),
        Setting(
            "match",
            "When mentions match: exact (the same words), head (the same head; in CorefUD), or auto (head in CorefUD).",
            partial(one_of, (AUTO, EXACT, HEAD)),
            AUTO,
        ),
    ),
    compared_figures=moved_figures(_extracts),
    answers=AnswerFormat(
        "The words of the texts in CoNLL-2012 columns with the coreference column last, or CorefUD (CoNLL-U).",
        example=(
            "#begin document (story/d01); part 000\n"
            "story/d01\t0\t0\tOslo\tNNP\t(3)\n"
            "story/d01\t0\t1\tknew\tVBD\t-\n"
            "story/d01\t0\t2\tAcme\tNNP\t(2\n"
            "story/d01\t0\t3\tBank\tNNP\t2)\n"
        ),
    ),
)
