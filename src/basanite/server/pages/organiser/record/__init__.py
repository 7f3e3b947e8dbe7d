"""Organisers' pages about the record: the log and the export."""

from basanite.server.pages.organiser.record import audit, export

ROUTERS = tuple(page.ROUTER for page in (audit, export))
