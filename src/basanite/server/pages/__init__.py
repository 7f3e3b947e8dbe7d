"""The site. A page is a frozen dataclass that names its template, and a thin route; pages of one story share a module.

How to add a page, say the list of teams for organisers:

1. A module of `pages/` holds `TeamsPage` (a frozen dataclass: its template as `template = "organiser/teams.html"`, then
   everything the template shows, `title` first) and a `ROUTER` with its routes. Pages of one story stand in one module.
   A route declares who may call it, asks once, and shows:

        @ROUTER.get("/campaigns/{slug}/organise/teams")
        def teams(request: Request, caller: Annotated[Caller, allow("evaluation")]) -> Response:
            with caller.office.reading() as session:
                return show(request, caller, teams_page(session, caller))

   It holds no SQL and no `if` about roles: the policy stands in `allow(…)`, the question in `campaign/`.
2. `templates/organiser/teams.html` extends `base.html`, gets `page` (the dataclass) and `frame` (reader, navigation,
   clocks), and uses the macros of `parts.html`: `part.head`, `part.moment`, `part.chip`, `part.empty`, `part.field`,
   `part.pager`, `part.grid`, `part.chart`. Strangers' words stand in `<bdi>`; no `style` attribute, no inline script
   (the content policy refuses both).
3. A form posts to a route that takes `form: PostedForm` *after* `caller` (the token is checked there), acts inside one
   `with caller.office.writing() as session:`, and ends in `go(caller, address, say_plain("…"))`. A `RefusedError` that
   the form can cure is caught and shown by `refuse(request, caller, page, error)`; others become error pages by
   themselves. What cannot be undone gets `part.confirm` first.
4. All words are `{{ _("…") }}`, in Python `say("…")` (for a page) or `say_plain("…")` (plain); then run
   `python -m basanite.server.catalogue` to put new sentences into `catalogue.toml`.
5. The module goes into `PAGES` of `routers.py`; a navigation entry into `ENTRIES` of `frame.py`.
6. `tests/server/pages/states.py` gets the page's states (no data, one row, 10,000 rows, a long name, an error, text
   from right to left): the tests render all of them, and look at them in a browser with the accessibility check.

Moments are shown by `part.moment(frame.clocks, at)`: in the campaign's zone, UTC and the reader's (P-27). Long lists
are paged by key with `page_of` of `templates.py`. Charts: `draw_chart(chart)` of `templates.py` in the dataclass,
`part.chart` in the template; drawn once for each content.
"""
