"""The demo's tour in the states that must look right."""

from __future__ import annotations

from tests.server.pages.states import count, name

from basanite.server.pages import demo
from basanite.server.pages.demo import Role, Step

STATES = ("waiting", "working", "ready", "failed")


def making(state, number):
    files = (Step("Report", "/demo/parts/harness/report.html"), Step("Slides", "/demo/parts/harness/report.pptx"))
    word = STATES[number % len(STATES)]
    reason = f"OSError: {name(state)}" if word == "failed" else ""
    return demo.PartProgress(f"p{number}", "A harness run", "Two teams.", word, 3, 62, reason, files)


def tour_page(state):
    steps = (Step("See what needs your attention.", "/organise"), Step("A token", "/account/tokens"))
    roles = tuple(
        Role("eva" if number % 2 else "", "You evaluate", "Eva leads.", steps, name(state))
        for number in range(min(count(state), 9))
    )
    makings = tuple(making(state, number) for number in range(min(count(state) * 4, 8)))
    return demo.TourPage("Demo tour", roles, makings, count(state), "/campaigns/demo", name(state), name(state))


ALL = {demo.TourPage: tour_page}
