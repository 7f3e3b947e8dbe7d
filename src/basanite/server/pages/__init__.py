"""The site. One page is one file: a frozen dataclass, a thin route, and a template of the same name.

How to add a page, say the list of teams for organisers:

1. `pages/organiser/teams.py` holds `TeamsPage` (a frozen dataclass with everything the template shows, `title` first)
   and a `ROUTER` with its routes. A route declares who may call it, asks once, and shows:

        @ROUTER.get("/campaigns/{slug}/organise/teams")
        def teams(request: Request, caller: Annotated[Caller, allow("evaluation")]) -> Response:
            with caller.office.reading() as session:
                return show(request, caller, asked(session, caller))

   It holds no SQL and no `if` about roles: the policy stands in `allow(…)`, the question in `campaign/`.
2. `templates/organiser/teams.html` extends `base.html`, gets `page` (the dataclass) and `frame` (reader, navigation,
   clocks), and uses the macros of `parts.html`: `part.head`, `part.moment`, `part.chip`, `part.empty`, `part.field`,
   `part.pager`, `part.grid`, `part.chart`. Strangers' words stand in `<bdi>`; no `style` attribute, no inline script
   (the content policy refuses both).
3. A form posts to a route that takes `form: Filled` *after* `caller` (the token is checked there), acts inside one
   `with caller.office.writing() as session:`, and ends in `go(caller, address, said("…"))`. A `RefusedError` that the
   form can cure is caught and shown by `refuse(request, caller, page, error)`; others become error pages by themselves.
   What cannot be undone gets `part.confirm` first.
4. All words are `{{ _("…") }}`, in Python `say("…")` (for a page) or `said("…")` (plain); then run
   `python -m basanite.server.catalogue` to put new sentences into `catalogue.toml`.
5. The router goes into `ROUTERS` below; a navigation entry into `ENTRIES` of `foundation/frame.py`.
6. `tests/server/pages/states.py` gets the page's states (no data, one row, 10,000 rows, a long name, an error, text
   from right to left): the tests render all of them, and look at them in a browser with the accessibility check.

Moments are shown by `part.moment(frame.clocks, at)`: in the campaign's zone, UTC and the reader's (P-27). Long lists
are paged by key with `foundation/paging.py`. Charts: `drawn(chart)` of `foundation/drawing.py` in the dataclass,
`part.chart` in the template; drawn once for each content.
"""

from __future__ import annotations

from fastapi import FastAPI

from basanite.server.pages import (
    account,
    adjudicating,
    annotating,
    answering,
    campaign,
    demo,
    error,
    judging,
    organiser,
    preferences,
    public,
    runs,
    start,
    teams,
)

ROUTERS = (
    preferences.ROUTER,
    start.ROUTER,
    *account.ROUTERS,
    *campaign.ROUTERS,
    *runs.ROUTERS,
    *teams.ROUTERS,
    *public.ROUTERS,
    *organiser.ROUTERS,
    *adjudicating.ROUTERS,
    *judging.ROUTERS,
    *annotating.ROUTERS,
    *answering.ROUTERS,
    *demo.ROUTERS,
)


def plug(app: FastAPI) -> None:
    """Let the application answer readers with pages when something fails."""
    app.state.error_page = error.error_page
