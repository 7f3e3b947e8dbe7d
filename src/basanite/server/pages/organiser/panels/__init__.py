"""Organisers' pages about judging: panels, their items and judges, a live dashboard, pay, batches and results (P-7)."""

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

ROUTERS = tuple(
    page.ROUTER for page in (listed, create, dashboard, items, judges, flags, pay, batches, results, preview)
)
