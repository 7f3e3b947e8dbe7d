"""Pages about judging in the states that must look right, those of organisers and of adjudicators."""

from __future__ import annotations

from markupsafe import Markup
from tests.server.pages.organiser.states import paged
from tests.server.pages.states import EARLIER, NOW, PROBLEMS, count, name, several

from basanite.campaign.work.panels.items import Counts
from basanite.campaign.work.panels.monitor import Heat
from basanite.formats.retrieval.instructions import sanitize_instructions
from basanite.server.pages import (
    panel_adjudication,
    panel_create,
    panel_dashboard,
    panel_items,
    panel_judges,
    panel_results,
)
from basanite.server.pages.judge_questions import question_fields, shown_blocks
from basanite.server.pages.organiser_frame import PanelHead
from basanite.server.pages.panel_create import presets
from basanite.server.pages.panel_dashboard import AgreementLine, heat_chart
from basanite.server.pages.templates import draw_chart
from basanite.work.items import Block
from basanite.work.scheme import Scheme, read_scheme

PANEL_STATES = {"none": "draft", "long": "closed", "hostile": "cancelled"}
SCHEMES = {"one": "key-query", "many": "readability", "rtl": "relevance", "long": "mqm", "hostile": "slider"}


def scheme(state) -> Scheme:
    """The scheme of a state: each shows other widgets."""
    preset = SCHEMES.get(state, "likert")
    made, problems = read_scheme(f'format = "basanite-judging/1"\nname = "x"\npreset = "{preset}"\n', "x.toml")
    assert made is not None, problems
    return made


def top(state):
    """The head of a panel's pages."""
    return PanelHead("p", "panel", name(state), PANEL_STATES.get(state, "open"), min(count(state), 12), count(state))


def blocks(state):
    """What judges see: of every kind."""
    shown = [Block("query", name(state)), Block("domain", "GOV"), Block("text", name(state), lang="ar", dir="rtl")]
    told = [Block("instructions", f"<b>{Markup.escape(name(state))}</b>", "general")]
    return (*shown, Block("document", name(state)), *told, Block("image", "a1"))


def listed_page(state):
    def line(s, n):
        states = ("open", "draft", "closed", "cancelled")
        agreed = None if n % 2 else 0.61
        return panel_create.PanelLine(
            f"p{n}", name(s), name(s), states[n % 4], n, 2 * n, 3, agreed, name(s), n % 3, n % 2
        )

    names = tuple(name(state) for _ in range(count(state)))
    rules = several(state, lambda s, n: (name(s), name(s)), 20)
    people = (("judge", names), ("annotator", ()), ("adjudicator", names[:1]))
    more = max(count(state) - panel_create.SHOWN, 0)
    return panel_create.ListedPage("Judging", several(state, line, panel_create.SHOWN), people, rules, more)


def create_page(state):
    wrong = PROBLEMS if state == "error" else ()
    windows = (("", ""), ("w", name(state)))
    shown = panel_create.scheme_preview(scheme(state)) if state in SCHEMES else None
    text = name(state) if count(state) else ""
    return panel_create.CreatePage("New panel", presets(), "mqm", text, text * 3, windows, "w", wrong, shown)


def dashboard_page(state):
    def line(s, n):
        return panel_dashboard.JudgeLine(name(s), name(s), "pauses", n, 2 * n, 31.4, 1, 3, -0.25, 2, n % 2 == 0)

    people = [f"j{n}" for n in range(min(count(state), 8))]
    cells = tuple(
        tuple(None if one == other else 0.5 + one / 20 for other in range(len(people))) for one in range(len(people))
    )
    shared = tuple(tuple(7 for _ in people) for _ in people)
    heat = Heat(tuple(people), cells, shared, max(count(state) - 8, 0))
    agreed = (
        AgreementLine("Alpha", name(state), 0.61, 0.5, 0.7),
        AgreementLine("Alpha", name(state), None, why=name(state)),
        AgreementLine("Alpha", name(state), 0.61, why="no interval"),
    )
    known = {person: name(state) for person in people}
    return panel_dashboard.DashboardPage(
        name(state),
        top(state),
        "open.1",
        count(state),
        2 * count(state),
        count(state),
        count(state),
        30.5 if count(state) else None,
        3,
        4 if count(state) else 0,
        agreed if count(state) else (),
        several(state, line, panel_dashboard.SHOWN),
        draw_chart(heat_chart(heat, known)) if len(people) > 1 or state == "one" else None,
        ((0, 3), (2, 7)) if count(state) else (),
        (name(state),) if count(state) else (),
        ((False, "Add", "/items"), (True, "Enroll judges", "/judges")),
        max(count(state) - panel_dashboard.SHOWN, 0),
    )


def items_page(state):
    def line(s, n):
        return panel_items.ItemLine(f"i{n}", n, ("real", "check", "training")[n % 3], name(s), name(s))

    wrong = PROBLEMS if state == "error" else ()
    windows = (("w", name(state)),) if state in ("one", "many") else ()
    counts = Counts(count(state), 3, 2, 1)
    return panel_items.ItemsPage(
        "Items",
        top(state),
        counts,
        paged(state, line),
        state != "none",
        state != "rtl",
        windows,
        "w",
        "pool",
        wrong,
        2,
        "text",
        draws=state == "many",
    )


def preview_page(state):
    if not count(state):
        return panel_items.PreviewPage("As judges see it", top(state))
    held, seen = scheme(state), blocks(state)
    told = (
        panel_items.Told(4, Markup(sanitize_instructions(name(state)))),
        panel_items.Told(5, Markup("<b>x</b>"), hidden=True),
    )
    return panel_items.PreviewPage(
        "As judges see it",
        top(state),
        "i1",
        2,
        3,
        "/before",
        "/after",
        shown_blocks(held, seen, "/x"),
        held.pairwise,
        Markup(held.instructions),
        question_fields(held, {}, seen),
        (name(state),),
        told,
        True,
        ((name(state), name(state)),),
    )


def judges_page(state):
    def line(s, n):
        place = ("active", "paused", "withdrawn", "removed")[n % 4]
        return panel_judges.SeatLine(
            f"p{n}", name(s), name(s), place, EARLIER if n % 2 else None, 3, 20, name(s), n < 4
        )

    groups = (("expert", "experts"), ("novice", "novices")) if state != "rtl" else (("judge", "judges"),)
    warnings = (name(state),) if count(state) else ()
    consent = (name(state) * 3, "2") if count(state) else ("", "")
    return panel_judges.JudgesPage(
        "Judges",
        top(state),
        paged(state, line),
        groups,
        True,
        True,
        count(state),
        warnings,
        *consent,
        True,
        name(state),
    )


def flags_page(state):
    lines = several(
        state, lambda s, n: panel_items.FlagLine(name(s), f"i{n}", n, name(s), name(s), EARLIER), panel_items.SHOWN
    )
    return panel_items.FlagsPage("Flags", top(state), lines, max(count(state) - panel_items.SHOWN, 0))


def pay_page(state):
    def line(s, n):
        return panel_judges.PayLine(
            f"p{n}", name(s), n, "1.50", "12.00 EUR", "8.00 EUR", "6.00 EUR" if n % 2 else "", n % 3 == 0
        )

    totals = (count(state), "3.00", "24.00 EUR")
    return panel_judges.PayPage(
        "Pay", top(state), name(state), "12.00 EUR", min(count(state), 3), paged(state, line), *totals
    )


def batches_page(state):
    def line(s, n):
        return panel_results.BatchLine(f"b{n}", n, "imported" if n % 2 else "exported", 40, EARLIER, NOW)

    wrong = PROBLEMS if state == "error" else ()
    may = PANEL_STATES.get(state, "open") == "open"
    return panel_results.BatchesPage(
        "Crowd batches", top(state), may, several(state, line, panel_results.MOST_BATCHES), wrong, len(wrong)
    )


def results_page(state):
    files = several(state, lambda s, n: panel_results.FileLine(name(s), 1234 * n, name(s)), 30)
    made = several(
        state, lambda s, n: panel_results.VersionLine(f"r{n}", name(s), n, NOW, name(s)), panel_results.MOST_VERSIONS
    )
    places = ((name(state), name(state)),) if count(state) else ()
    facts = (name(state), "sha256:" + "a" * 64, min(count(state), 2), count(state))
    return panel_results.ResultsPage("Results", top(state), files, *facts, places, made, "", name(state), True)


def queues_page(state):
    cards = several(
        state, lambda s, n: panel_adjudication.QueueCard(f"p{n}", name(s), ("open", "closed")[n % 2], n, 2), 200
    )
    return panel_adjudication.QueuesPage("Adjudication", "/campaigns/small/adjudicate", cards)


def queue_page(state):
    def line(s, n):
        return panel_adjudication.CaseLine(f"c{n}", n, ("open", "decided", "none")[n % 3], 1 / n, 2)

    cases = several(state, line, panel_adjudication.LISTED)
    first = "/first" if cases else ""
    address = "/campaigns/small/adjudicate/panel"
    counts = (len(cases), 3, min(count(state), 4))
    return panel_adjudication.QueuePage(
        name(state), address, "/back", first, *counts, cases, max(count(state) - panel_adjudication.LISTED, 0)
    )


def case_page(state):
    held, seen = scheme(state), blocks(state)
    voices = several(
        state,
        lambda s, n: panel_adjudication.VoiceCard(f"Judge {n}", ((name(s), name(s)),), (name(s),), (name(s),)),
        40,
    )
    options = several(
        state, lambda s, n: panel_adjudication.Option(f"A{n}", name(s), f"Judge {n}", str(n) if n < 9 else ""), 40
    )
    codes = (("overlooked", "a judge overlooked something", "q"), ("other", "other reason", "r"))
    steps = several(state, lambda s, n: panel_adjudication.Step("decided", name(s), name(s), name(s), NOW), 30)
    return panel_adjudication.CasePage(
        "Case",
        name(state),
        "/queue",
        "/act",
        count(state),
        "decided" if state in ("none", "long") else "open",
        "67 %" if count(state) else "",
        shown_blocks(held, seen, "/x"),
        held.pairwise,
        voices,
        options,
        question_fields(held, {}, seen),
        codes,
        steps,
        "/next" if count(state) else "",
        name(state),
        state == "scripts",
        {"reason": name(state), "take": "own"},
    )


ALL = {
    panel_create.ListedPage: listed_page,
    panel_create.CreatePage: create_page,
    panel_dashboard.DashboardPage: dashboard_page,
    panel_items.ItemsPage: items_page,
    panel_items.PreviewPage: preview_page,
    panel_judges.JudgesPage: judges_page,
    panel_items.FlagsPage: flags_page,
    panel_judges.PayPage: pay_page,
    panel_results.BatchesPage: batches_page,
    panel_results.ResultsPage: results_page,
    panel_adjudication.QueuesPage: queues_page,
    panel_adjudication.QueuePage: queue_page,
    panel_adjudication.CasePage: case_page,
}
"""By the dataclass of a page, what makes it in a state."""
