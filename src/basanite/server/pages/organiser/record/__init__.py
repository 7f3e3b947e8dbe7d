"""Organisers' pages about the record: the log, the export, and how judging goes."""

from basanite.server.pages.organiser.record import audit, export, judging

ROUTERS = tuple(page.ROUTER for page in (audit, export, judging))
