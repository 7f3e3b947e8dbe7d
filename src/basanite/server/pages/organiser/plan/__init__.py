"""Organisers' pages about the plan: windows and milestones, the campaign's file, packs, versions of the truth."""

from basanite.server.pages.organiser.plan import file, packs, references, windows

ROUTERS = tuple(page.ROUTER for page in (windows, file, packs, references))
