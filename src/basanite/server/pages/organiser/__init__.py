"""The pages of the evaluation team: what decides something is confirmed, has a reason, and is logged (P-7)."""

from basanite.server.pages.organiser import home, panels, people, plan, record, results, saying

ROUTERS = (
    home.ROUTER,
    *people.ROUTERS,
    *plan.ROUTERS,
    *results.ROUTERS,
    *saying.ROUTERS,
    *record.ROUTERS,
    *panels.ROUTERS,
)
