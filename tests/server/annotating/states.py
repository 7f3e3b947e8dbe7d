"""The pages of annotation in the states that must look right."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.server.pages.states import HOSTILE, LATER, NOW, PROBLEMS, count, name

from basanite.campaign.work.annotation.adjudication import CODES, Queued
from basanite.campaign.work.annotation.monitor import TextProgress
from basanite.figures import Table
from basanite.server.pages import annotation_adjudication, annotation_projects, annotation_start, annotation_workbench
from basanite.server.pages.annotation_adjudication import CaseView, Reading, SideLine, SideView
from basanite.server.pages.annotation_data import blocks, config_data, words
from basanite.work.annotation.config import read_config

EXAMPLES = Path(__file__).parents[3] / "examples"


@cache
def nfl():
    """The configuration of the paper's screen, as scripts get it."""
    config, _ = read_config(EXAMPLES / "annotation" / "nfl-scoring.yaml", EXAMPLES / "reading" / "nfl")
    return config_data(config)


def body(state):
    """A text in this state."""
    return {"none": "", "many": "The Jets won again. " * 2500}.get(
        state, f"The {name(state)} won, 20-17.\n\nA second line."
    )


def events(state):
    """What was done to it."""
    if state == "none":
        return []
    made = [
        ("create", {"object": "g1", "category": "Game", "parent": ""}),
        ("create", {"object": "t1", "category": "Team", "parent": "g1"}),
        ("span.add", {"object": "t1", "field": "mention", "parts": [[0, 8]]}),
        ("note", {"object": "t1", "text": name(state)}),
        ("row.add", {"object": "e1", "category": "Event", "parent": "t1"}),
        ("set", {"object": "e1", "field": "count", "value": "1"}),
        ("span.add", {"object": "e1", "field": "mention", "parts": [[4, 12]]}),
    ]
    if state == "many":
        made += [
            ("span.add", {"object": "g1", "field": "mention", "parts": [[20 * at, 20 * at + 8]]})
            for at in range(1, 2000)
        ]
    return [{"id": f"e{at}", "kind": kind, "data": data} for at, (kind, data) in enumerate(made)]


def review(state):
    return [
        {
            "kind": "contradiction",
            "message": name(state),
            "places": [{"object": "g1/Periods", "field": "value"}],
            "why": [{"text": name(state), "lines": [{"text": "because", "lines": []}]}],
            "fix": "",
        },
        {
            "kind": "incomplete",
            "message": name(state),
            "places": [{"object": "t1", "field": "name"}],
            "why": [],
            "fix": "fill it in",
        },
    ] * (state != "none")


def given(state):
    return {
        "task": "t",
        "text": body(state),
        "config": nfl(),
        "events": events(state),
        "sequence": len(events(state)),
        "review": review(state),
        "address": "/campaigns/small/annotate/t/events",
        "next": "/campaigns/small/annotate/next",
        "csrf": "token",
        "words": words(),
    }


def guide(state):
    return blocks(f"# {name(state)}\n\nMark it.\n\n- {name(state)}\n") if state != "none" else ()


def text_page(state):
    return annotation_workbench.TextPage(
        name(state), body(state), given(state), guide(state), 1, 40, "/campaigns/small/annotate", False, "/search"
    )


def preview_page(state):
    listed = (("p", name(state)),) * bool(count(state))
    if state in ("none", "error"):
        return annotation_workbench.PreviewPage(
            "Preview", listed, "", HOSTILE, PROBLEMS if state == "error" else (), checked=state == "error"
        )
    return annotation_workbench.PreviewPage(
        "Preview",
        listed,
        "p",
        name(state),
        (),
        body(state),
        given(state) | {"address": ""},
        guide(state),
        True,
        checked=True,
    )


def queue_page(state):
    lines = tuple(
        annotation_workbench.QueueLine(
            name(state),
            "/campaigns/small/annotate/t",
            ("waiting", "working", "done")[at % 3],
            1234,
            ("annotator", "adjudicator")[at % 2],
        )
        for at in range(min(count(state), annotation_workbench.SHOWN))
    )
    made = annotation_workbench.QueueProject(
        name(state), lines, 3, max(count(state), 3), "/campaigns/small/annotate/t" if state == "one" else ""
    )
    return annotation_workbench.QueuePage("Annotate", (made,) * bool(count(state)), "/decide" if state == "one" else "")


def disagreements_page(state):
    lines = tuple(
        Queued("d", name(state), ("waiting", "ready", "begun", "done")[at % 4], 2, 1, 5, 3, False)
        for at in range(min(count(state), annotation_adjudication.MOST_TEXTS))
    )
    made = annotation_adjudication.DisagreementsProject(name(state), lines, max(count(state) - len(lines), 0))
    return annotation_adjudication.DisagreementsPage("Disagreements", (made,) * (state != "none"), "/decide")


def case(state, **more):
    lines = (SideLine(name(state), name(state), True), SideLine("Words", name(state)))
    sides = (SideView("A", "a", True, lines, "A-e2"), SideView("B", "b", False), SideView("C", "c", True))
    readings = (
        Reading("name", name(state), name(state), ((name(state), name(state)),)),
        Reading("mention", "Words", words=(("0-8", name(state), True),), spans=True),
        Reading("count", "Count", "1"),
    )
    return CaseView("k", name(state), "Team", sides, readings, False, **more)


def decide_page(state):
    shown = min(count(state), annotation_adjudication.SHOWN)
    marks = [{"id": "A-e2", "category": "Team", "label": "A Team", "parts": [[0, 8]]}] * (state != "none")
    codes = tuple((code, words_) for code, words_ in CODES.items())
    verdicts = ("take", "none", "edit", "unanimous")
    return annotation_adjudication.DecidePage(
        title=name(state),
        text=body(state),
        given={"text": body(state), "config": nfl(), "marks": marks},
        apart=tuple(case(state) for _ in range(shown)),
        alike=count(state),
        waiting=count(state),
        decided=tuple(
            case(state, verdict=verdicts[at % 4], chosen="A", note=name(state)) for at in range(min(shown, 4))
        ),
        total=2 * count(state),
        left=count(state),
        letters=("A", "B", "C"),
        base="/campaigns/small/annotate/decide/d",
        back="/campaigns/small/annotate/decide",
        codes=codes,
        done=state == "long",
        history=(annotation_adjudication.DecisionLine(NOW, "take", "slip", name(state)),) * bool(count(state)),
    )


def projects_page(state):
    lines = tuple(
        annotation_projects.ProjectLine("p", "name", name(state), ("open", "closed")[at % 2], 3, 40, 80, 12, 3)
        for at in range(min(count(state), 200))
    )
    return annotation_projects.ProjectsPage("Annotation", lines, name(state), name(state))


def new_project_page(state):
    typed = dict.fromkeys(annotation_start.FIELDS, "" if state == "none" else name(state))
    return annotation_start.NewProjectPage("New annotation project", "/c/season/organise/annotation", typed)


def project_page(state):
    shown = min(count(state), annotation_projects.SHOWN)
    people = tuple(
        annotation_projects.PersonLine(name(state), ("annotator", "adjudicator")[at % 2], 1, 2, 3, 12.5)
        for at in range(min(shown, 50))
    )
    texts = tuple(
        TextProgress("d", name(state), "train", 2, 1, ("none", "working", "done")[at % 3]) for at in range(shown)
    )
    versions = (annotation_projects.VersionLine(3, LATER, name(state), name(state), (name(state),)),)
    figures = (2, 80, 12, 3, people, texts, count(state), versions)
    lists = ((("", "all splits"), (name(state), name(state))), (name(state),) * bool(count(state)))
    held = "closed" if state == "long" else "open"
    return annotation_projects.ProjectPage(
        name(state), "p", "nfl", held, *figures, *lists, name(state), annotation_projects.FORMATS
    )


def agreement_page(state):
    rows = tuple(
        (name(state), at, "0.812 [0.700, 0.900]", "undefined: nobody marked anything")
        for at in range(min(count(state), 1000))
    )
    table = Table("Spans", ("Category", "Annotations", "Identical spans (F1)", "Alpha"), rows, note=name(state))
    return annotation_workbench.AgreementPage(
        "Agreement", name(state), "/campaigns/small/organise/annotation/p", count(state), (table,) * bool(count(state))
    )


ALL = {
    annotation_workbench.QueuePage: queue_page,
    annotation_workbench.TextPage: text_page,
    annotation_adjudication.DisagreementsPage: disagreements_page,
    annotation_adjudication.DecidePage: decide_page,
    annotation_projects.ProjectsPage: projects_page,
    annotation_projects.ProjectPage: project_page,
    annotation_start.NewProjectPage: new_project_page,
    annotation_workbench.AgreementPage: agreement_page,
    annotation_workbench.PreviewPage: preview_page,
}
