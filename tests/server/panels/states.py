"""Pages about judging in the states that must look right, those of organisers and of adjudicators."""

from __future__ import annotations

from markupsafe import Markup
from tests.server.pages.organiser.states import paged
from tests.server.pages.states import EARLIER, NOW, PROBLEMS, count, name, several

from basanite.campaign.panels.watching.browsing import Counts
from basanite.campaign.panels.watching.looking import Heat
from basanite.formats.summaries.instructions import sanitised
from basanite.judging.items import Block
from basanite.judging.scheme import Scheme, read_scheme
from basanite.server.pages.adjudicating import case, queue, queues
from basanite.server.pages.foundation.drawing import drawn
from basanite.server.pages.judging.questions import asked
from basanite.server.pages.judging.shown import shown_blocks
from basanite.server.pages.organiser.panels import (
    batches,
    create,
    dashboard,
    flags,
    items,
    judges,
    listed,
    pay,
    preview,
    results,
)
from basanite.server.pages.organiser.panels.desk import PanelHead
from basanite.server.pages.organiser.panels.figures import AgreementLine, heat_chart
from basanite.server.pages.organiser.panels.presets import presets

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
        return listed.PanelLine(f"p{n}", name(s), name(s), states[n % 4], n, 2 * n, 3, agreed, name(s), n % 3, n % 2)

    names = tuple(name(state) for _ in range(count(state)))
    rules = several(state, lambda s, n: (name(s), name(s)), 20)
    people = (("judge", names), ("annotator", ()), ("adjudicator", names[:1]))
    more = max(count(state) - listed.SHOWN, 0)
    return listed.ListedPage("Judging", several(state, line, listed.SHOWN), people, rules, more)


def create_page(state):
    wrong = PROBLEMS if state == "error" else ()
    windows = (("", ""), ("w", name(state)))
    shown = create.shown(scheme(state)) if state in SCHEMES else None
    text = name(state) if count(state) else ""
    return create.CreatePage("New panel", presets(), "mqm", text, text * 3, windows, "w", wrong, shown)


def dashboard_page(state):
    def line(s, n):
        return dashboard.JudgeLine(name(s), name(s), "pauses", n, 2 * n, 31.4, 1, 3, -0.25, 2, n % 2 == 0)

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
    return dashboard.DashboardPage(
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
        several(state, line, dashboard.SHOWN),
        drawn(heat_chart(heat, known)) if len(people) > 1 or state == "one" else None,
        ((0, 3), (2, 7)) if count(state) else (),
        (name(state),) if count(state) else (),
        ((False, "Add", "/items"), (True, "Enrol", "/judges")),
        max(count(state) - dashboard.SHOWN, 0),
    )


def items_page(state):
    def line(s, n):
        return items.ItemLine(f"i{n}", n, ("real", "check", "training")[n % 3], name(s), name(s))

    wrong = PROBLEMS if state == "error" else ()
    windows = (("w", name(state)),) if state in ("one", "many") else ()
    counts = Counts(count(state), 3, 2, 1)
    return items.ItemsPage(
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
        return preview.PreviewPage("As judges see it", top(state))
    held, seen = scheme(state), blocks(state)
    told = (preview.Told(4, Markup(sanitised(name(state)))), preview.Told(5, Markup("<b>x</b>"), hidden=True))
    return preview.PreviewPage(
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
        asked(held, {}, seen),
        (name(state),),
        told,
        True,
        ((name(state), name(state)),),
    )


def judges_page(state):
    def line(s, n):
        place = ("active", "paused", "withdrawn", "removed")[n % 4]
        return judges.SeatLine(f"p{n}", name(s), name(s), place, EARLIER if n % 2 else None, 3, 20, name(s), n < 4)

    groups = (("expert", "experts"), ("novice", "novices")) if state != "rtl" else (("judge", "judges"),)
    warnings = (name(state),) if count(state) else ()
    consent = (name(state) * 3, "2") if count(state) else ("", "")
    return judges.JudgesPage(
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
    lines = several(state, lambda s, n: flags.FlagLine(name(s), f"i{n}", n, name(s), name(s), EARLIER), flags.SHOWN)
    return flags.FlagsPage("Flags", top(state), lines, max(count(state) - flags.SHOWN, 0))


def pay_page(state):
    def line(s, n):
        return pay.PayLine(
            f"p{n}", name(s), n, "1.50", "12.00 EUR", "8.00 EUR", "6.00 EUR" if n % 2 else "", n % 3 == 0
        )

    totals = (count(state), "3.00", "24.00 EUR")
    return pay.PayPage("Pay", top(state), name(state), "12.00 EUR", min(count(state), 3), paged(state, line), *totals)


def batches_page(state):
    def line(s, n):
        return batches.BatchLine(f"b{n}", n, "imported" if n % 2 else "exported", 40, EARLIER, NOW)

    wrong = PROBLEMS if state == "error" else ()
    may = PANEL_STATES.get(state, "open") == "open"
    return batches.BatchesPage("Crowd batches", top(state), may, several(state, line, batches.SHOWN), wrong, len(wrong))


def results_page(state):
    files = several(state, lambda s, n: results.FileLine(name(s), 1234 * n, name(s)), 30)
    made = several(state, lambda s, n: results.VersionLine(f"r{n}", name(s), n, NOW, name(s)), results.SHOWN)
    places = ((name(state), name(state)),) if count(state) else ()
    facts = (name(state), "sha256:" + "a" * 64, min(count(state), 2), count(state))
    return results.ResultsPage("Results", top(state), files, *facts, places, made, "", name(state), True)


def queues_page(state):
    cards = several(state, lambda s, n: queues.QueueCard(f"p{n}", name(s), ("open", "closed")[n % 2], n, 2), 200)
    return queues.QueuesPage("Adjudication", "/campaigns/small/adjudicate", cards)


def queue_page(state):
    def line(s, n):
        return queue.CaseLine(f"c{n}", n, ("open", "decided", "none")[n % 3], 1 / n, 2)

    cases = several(state, line, queue.LISTED)
    first = "/first" if cases else ""
    address = "/campaigns/small/adjudicate/panel"
    counts = (len(cases), 3, min(count(state), 4))
    return queue.QueuePage(name(state), address, "/back", first, *counts, cases, max(count(state) - queue.LISTED, 0))


def case_page(state):
    held, seen = scheme(state), blocks(state)
    voices = several(
        state, lambda s, n: case.VoiceCard(f"Judge {n}", ((name(s), name(s)),), (name(s),), (name(s),)), 40
    )
    options = several(state, lambda s, n: case.Option(f"A{n}", name(s), f"Judge {n}", str(n) if n < 9 else ""), 40)
    codes = (("overlooked", "a judge overlooked something", "q"), ("other", "another reason", "r"))
    steps = several(state, lambda s, n: case.Step("decided", name(s), name(s), name(s), NOW), 30)
    return case.CasePage(
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
        asked(held, {}, seen),
        codes,
        steps,
        "/next" if count(state) else "",
        name(state),
        state == "scripts",
        {"reason": name(state), "take": "own"},
    )


ALL = {
    listed.ListedPage: listed_page,
    create.CreatePage: create_page,
    dashboard.DashboardPage: dashboard_page,
    items.ItemsPage: items_page,
    preview.PreviewPage: preview_page,
    judges.JudgesPage: judges_page,
    flags.FlagsPage: flags_page,
    pay.PayPage: pay_page,
    batches.BatchesPage: batches_page,
    results.ResultsPage: results_page,
    queues.QueuesPage: queues_page,
    queue.QueuePage: queue_page,
    case.CasePage: case_page,
}
"""By the dataclass of a page, what makes it in a state."""
