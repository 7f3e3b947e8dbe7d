"""How far the annotators of a project agree: where they mark, apart from what they call it; per category and text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.annotation.agreement import Agreement, SpanAgreement, TextAgreement, ValueAgreement
from basanite.campaign.annotating import agreeing
from basanite.campaign.annotating.finding import project_named
from basanite.figures import Table
from basanite.metrics.judgement.estimate import Estimate
from basanite.reports.wording import true_minus
from basanite.server.catalogue import said, say
from basanite.server.pages.annotating.project import PROJECT
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import Organiser, at

ROUTER = APIRouter(include_in_schema=False)
DRAWS = 500


@dataclass(frozen=True)
class AgreementPage:
    """Agreement over all texts that have two finished annotations or more."""

    title: str
    project: str
    back: str
    texts: int
    tables: tuple[Table, ...] = ()


@ROUTER.get(f"{PROJECT}/agreement")
def look(request: Request, caller: Organiser, project: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        found = project_named(session, caller.here[0].id, project)
        told = agreeing.agreement(session, caller.office, caller.actor, found.id, draws=DRAWS)
    back = at(caller, f"/annotation/{found.id}")
    page = AgreementPage(say("Agreement"), found.title or found.name, back, told.texts, tables(told))
    return show(request, caller, page)


def tables(told: Agreement) -> tuple[Table, ...]:
    """What was measured, as tables."""
    return (_words(told), _values(told.labels, told.fields), _texts(told.per_text)) if told.texts else ()


def _words(told: Agreement) -> Table:
    columns = (said("Category"), said("Marks"), said("Same words (F1)"), said("Overlapping words (F1)"), said("Alpha"))
    rows = [_span(said("All, whatever they are called"), told.spans)]
    rows += [_span(name, one) for name, one in told.categories.items()]
    return Table(said("Where annotators mark"), columns, tuple(rows), note=_why(told.spans.exact, told.spans.alpha))


def _span(name: str, one: SpanAgreement) -> tuple[str, int, str, str, str]:
    return name, one.mentions, shown(one.exact), shown(one.overlap), shown(one.alpha)


def _values(labels: ValueAgreement, fields: Mapping[str, ValueAgreement]) -> Table:
    columns = (said("What"), said("Pairs"), said("Equal"), said("Kappa"))
    listed = {said("Category of the same words"): labels, **fields}
    rows = tuple((name, one.pairs, shown(one.share), shown(one.kappa)) for name, one in listed.items())
    return Table(said("What they call it and fill in"), columns, rows)


def _texts(texts: Iterable[TextAgreement]) -> Table:
    columns = (said("Text"), said("Same words (F1)"), said("Category: equal"), said("Disagreements"))
    ordered = sorted(texts, key=lambda one: -one.disagreements)
    rows = tuple((one.name, shown(one.spans.exact), shown(one.labels.share), one.disagreements) for one in ordered)
    return Table(said("Text by text"), columns, rows)


def shown(one: Estimate) -> str:
    """A figure with its interval, or why there is none.

    >>> shown(Estimate(0.5, low=-0.4, high=0.6)), shown(Estimate(float("nan"), "nobody marked anything"))
    ('0.500 [−0.400, 0.600]', 'undefined: nobody marked anything')
    """
    if not one.defined:
        return said("undefined: {reason}", reason=one.reason) if one.reason else said("undefined")
    interval = f" [{one.low:.3f}, {one.high:.3f}]" if one.low is not None and one.high is not None else ""
    return true_minus(f"{one.value:.3f}{interval}")


def _why(*figures: Estimate) -> str:
    return next((one.reason for one in figures if one.reason), "")
