"""The judge's pages: what to judge, one item at a time, by mouse, keys or plain forms (R-2, M50 to M52, X-9, P-22)."""

from __future__ import annotations

from basanite.server.pages.judging import about, consent, criteria, declare, desk, home, image, item, rank, rest

ROUTERS = (
    home.ROUTER,
    about.ROUTER,
    consent.ROUTER,
    declare.ROUTER,
    item.ROUTER,
    rank.ROUTER,
    criteria.ROUTER,
    rest.ROUTER,
    image.ROUTER,
    desk.ROUTER,
)
