"""What organizers do to annotation projects, as commands, calls and forms: suggestions, and people over time."""

from __future__ import annotations

import math
from typing import Annotated

from basanite.campaign.actions.registry import (
    Argument,
    Arguments,
    At,
    Option,
    Outcome,
    Reason,
    action,
    list_outcome,
)
from basanite.campaign.work.annotation import adjudication, assignment, decisions, priorities, setup, suggestion_sets
from basanite.campaign.work.annotation import trends as trends_of
from basanite.campaign.work.annotation.lookup import document_named, project_named, task_of
from basanite.metrics.judgement.estimate import Estimate
from basanite.reports.wording import plural, true_minus
from basanite.work.annotation.suggestions import OUTCOMES

Project = Annotated[str, Argument("The name of the project.", metavar="PROJECT")]


class Suggesting(Arguments):
    """Where suggestions come from."""

    project: Project
    rules: Annotated[
        str, Option("Lines of a label, a tab, and words or /a pattern/. Without them, a model is trained.", file=True)
    ] = ""
    without: Annotated[
        int, Option("Percent of the tasks that are shown without suggestions.", least=0, most=90, show_default=True)
    ] = 20


class OfProject(Arguments):
    """A project."""

    project: Project


@action("annotation suggest", hint="matches --rules rules.tsv --data season", logs="annotation.suggested")
def suggest(at: At, given: Suggesting) -> Outcome:
    """Suggest labels in the texts of PROJECT that nobody has opened, from rules or from a model of what is finished.

    Annotators see the source and accept, change or refuse each. A random share of the tasks is shown without, to
    measure the effect of suggesting.
    """
    project = project_named(at.session, at.campaign_id, given.project).id
    if given.rules:
        source, found = "rules", suggestion_sets.by_rules(at.session, at.office, project, given.rules)
    else:
        source, found = suggestion_sets.by_model(at.session, at.office, project)
    made = suggestion_sets.suggest(*at.who, project, source, found, share=given.without / 100)
    words = f"{plural('suggestion', made.suggestions)} in {plural('text', made.texts)}, from {source}."
    return Outcome(made.as_dict(), (words,))


@action("annotation suggestions", reads=True, hint="matches --data season")
def suggestions(at: At, given: OfProject) -> Outcome:
    """Show what became of suggestions, by source, and how far showing them changes what people mark."""
    found = suggestion_sets.report(*at.who, project_named(at.session, at.campaign_id, given.project).id)
    rows = [{"source": source, **counts} for source, counts in found.outcomes.items()]
    bias, texts = found.bias, found.bias.texts
    shown = plural("text", texts[0])
    after = (
        f"F1 with the suggestions, where they were shown: {_words(bias.shown)} ({shown})",
        f"F1 with the suggestions, where they were not: {_words(bias.withheld)} ({plural('text', texts[1])})",
        f"Effect of showing them: {_words(bias.difference)}",
        f"Minutes per 1,000 characters: {_minutes(bias.speed[0])} with, {_minutes(bias.speed[1])} without.",
    )
    made = list_outcome("sources", rows, ("source", *OUTCOMES), "Nothing finished had suggestions.")
    return Outcome(found.as_dict(), listing=made.listing, after=after)


def _minutes(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.2f}"


def _words(one: Estimate) -> str:
    """A figure with its interval, or why there is none."""
    if not one.is_defined:
        return f"undefined ({one.reason})"
    ends = "" if one.low is None else f" [{one.low:.3f}, {one.high:.3f}]"
    note = f" ({one.reason})" if one.reason else ""
    return true_minus(f"{one.value:+.3f}{ends}" if ends or note else f"{one.value:.3f}") + note


class Repeating(Arguments):
    """How many texts are annotated once more."""

    project: Project
    share: Annotated[
        int, Option("Percent of each annotator's finished texts.", least=1, most=100, show_default=True)
    ] = 10


@action("annotation repeat", hint="matches --data season", logs="annotation.repeated")
def repeat(at: At, given: Repeating) -> Outcome:
    """Give every annotator a random sample of their finished texts once more, without what they did before."""
    project = project_named(at.session, at.campaign_id, given.project).id
    made = trends_of.repeat(*at.who, project, share=given.share / 100)
    people = len({one.person_id for one in made})
    words = f"{plural('text', len(made))} for {people} people."
    return Outcome({"tasks": len(made), "people": people}, (words,))


@action("annotation trends", reads=True, hint="matches --data season")
def trends(at: At, given: OfProject) -> Outcome:
    """Show agreement and speed by annotator and week, flag drift, and compare texts that were annotated twice."""
    found = trends_of.trends(*at.who, project_named(at.session, at.campaign_id, given.project).id)
    rows = [
        {"person": one.person, "week": one.week, "texts": one.texts, "minutes_per_1000": _minutes(one.speed)}
        | {"agreement": _words(one.agreement), "change": _words(one.change), "drift": ", ".join(one.drift) or "none"}
        for one in found.weeks
    ]
    after = tuple(
        f"{who}: F1 {_words(one)} with the own earlier annotations ({plural('text', texts)})"
        for who, (texts, one) in found.repeated.items()
    )
    columns = ("person", "week", "texts", "minutes_per_1000", "agreement", "change", "drift")
    listing = list_outcome("weeks", rows, columns, "Nothing is finished yet.").listing
    return Outcome(found.as_dict(), listing=listing, after=after)


class Ordering(Arguments):
    """What comes first."""

    project: Project
    by: Annotated[
        str,
        Option("What comes first: texts of which a model is least sure, or on which annotators agree least.",
               choices=("uncertainty", "disagreement"), show_default=True),
    ] = "uncertainty"  # fmt: skip


@action("annotation order", hint="matches --by disagreement --data season", logs="annotation.ordered")
def order(at: At, given: Ordering) -> Outcome:
    """Put the texts that wait in PROJECT in a new order: the most uncertain, or the most disputed, first.

    Uncertainty is that of a model trained on the finished texts. Disagreement is that of two people or more who
    finished a text that another person still has. Nobody gets other texts, only another order.
    """
    project = project_named(at.session, at.campaign_id, given.project).id
    found = priorities.order_texts(*at.who, project, given.by)
    rows = [{"text": name, given.by: f"{value:.3f}"} for name, value in found.items()]
    listing = list_outcome("texts", rows, ("text", given.by), "No text waits.").listing
    texts = [{"text": name, "score": value} for name, value in found.items()]
    return Outcome({"by": given.by, "texts": texts}, listing=listing)


class OfText(Arguments):
    """A text of a project."""

    project: Project
    text: Annotated[str, Argument("The name of the text.", metavar="TEXT")]


class Deciding(OfText):
    """A decision about one case."""

    case: Annotated[str, Argument("The case, as `annotation cases` names it; `unanimous` for all that agree.")]
    take: Annotated[int, Option("The side to take; 0 is none of these.", least=0, most=100)] = 0
    code: Annotated[str, Option("The reason, as on the page.")] = ""
    note: Annotated[str, Option("A note about the reason.")] = ""


class Finishing(OfText):
    """The end of an adjudication."""

    contradictions: Annotated[int, Option("How many open contradictions stay.", least=0, most=10**6)] = 0


@action("annotation cases", reads=True, hint="matches one --as judy@people.example --data season", programs=False)
def cases(at: At, given: OfText) -> Outcome:
    """List what is to be adjudicated in a TEXT of PROJECT, with what each side says."""
    found = decisions.disagreements_object(*at.who, _text(at, given))
    rows = [
        {
            "case": one["case"],
            "category": one["category"],
            "differs": ", ".join(one["differs"]) or "no",
            "verdict": one["verdict"] or "open",
        }
        for one in found["cases"]
    ]
    listing = list_outcome("cases", rows, ("case", "category", "differs", "verdict"), "There are no cases.").listing
    return Outcome(found, listing=listing, after=(f"{plural('case', found['open_cases'])} open.",))


@action(
    "annotation decide",
    hint="matches three unanimous --as judy@people.example --data season",
    logs="annotation.decided",
    programs=False,
)
def decide(at: At, given: Deciding) -> Outcome:
    """Decide one CASE of a TEXT as its adjudicator (--as), or accept everything on which all annotators agree."""
    document = _text(at, given)
    if given.case == "unanimous":
        count = adjudication.accept_unanimous(*at.who, document)
        return Outcome({"accepted": count}, (f"{plural('case', count)} accepted.",))
    ruling = {"take": given.take, "code": given.code, "note": given.note}
    made = decisions.decide_side(*at.who, document, given.case, ruling)
    return Outcome(made, (f"The case is decided: {made['verdict']}.",))


@action(
    "annotation finish",
    hint="matches four --as judy@people.example --data season",
    logs="annotation.done",
    programs=False,
)
def finish(at: At, given: Finishing) -> Outcome:
    """Finish the adjudication of a TEXT as its adjudicator (--as), once everything is decided."""
    made = adjudication.finish(*at.who, _text(at, given), contradictions=given.contradictions)
    return Outcome({"state": made.stage, "sequence": made.sequence}, (f"The text is {made.stage}.",))


def _text(at: At, given: OfText) -> str:
    project = project_named(at.session, at.campaign_id, given.project)
    return document_named(at.session, project.id, given.text).id


class Assigning(Arguments):
    """Who annotates which texts."""

    project: Project
    persons: Annotated[
        tuple[str, ...], Option("An annotator. Can be repeated.", name="person", required=True, metavar="MAIL")
    ]
    part: Annotated[str, Option("Only texts of this part.")] = ""
    names: Annotated[tuple[str, ...], Option("Only this text. Can be repeated.", name="text")] = ()
    per_document: Annotated[
        int | None, Option("Annotators of each text; without it, the project's.", least=1, most=20)
    ] = None


@action(
    "annotation assign",
    hint="matches --person adam@people.example --per-document 3 --data season",
    logs="annotation.assigned",
)
def assign(at: At, given: Assigning) -> Outcome:
    """Assign annotators to every text: evenly, blind to each other, nobody the same text twice.

    Repeated with more people or a higher number, it adds what is missing and moves nothing.
    """
    project = project_named(at.session, at.campaign_id, given.project).id
    people = [at.person(one) for one in given.persons]
    scope = assignment.TextScope(part=given.part or None, names=given.names, per_document=given.per_document)
    made = assignment.assign(*at.who, project, people, scope)
    lines = [f"{len(made.tasks)} tasks for {len(people)} people."]
    lines += [f"{len(made.short)} texts have fewer annotators than wanted."] if made.short else []
    return Outcome(made.as_dict(), tuple(lines))


class Withdrawing(OfText):
    """A task that is taken back."""

    person: Annotated[str, Option("Whose task it is.", required=True, metavar="MAIL")]
    reason: Reason = ""


@action(
    "annotation withdraw",
    hint='matches two --person axel@people.example --reason "on leave" --data season',
    logs="annotation.withdrawn",
)
def withdraw(at: At, given: Withdrawing) -> Outcome:
    """Withdraw a text from an annotator who has not finished it; the record stays but no longer counts."""
    row = assignment.withdraw(
        *at.who, task_of(at.session, _text(at, given), at.person(given.person)).id, reason=given.reason
    )
    return Outcome({"task": row.id, "state": row.state}, (f"The task is {row.state}.",))


class Closing(Arguments):
    """The end of a project, or its new beginning."""

    project: Project
    again: Annotated[bool, Option("Open it again instead.")] = False
    reason: Reason = ""


@action(
    "annotation close",
    hint='matches --reason "all done" --data season',
    logs="annotation.closed annotation.open",
)
def close(at: At, given: Closing) -> Outcome:
    """Close a project: no more changes are accepted."""
    act = setup.open_project if given.again else setup.close_project
    row = act(*at.who, project_named(at.session, at.campaign_id, given.project).id, reason=given.reason)
    return Outcome({"project": row.name, "state": row.state}, (f"{row.name} is {row.state}.",))
