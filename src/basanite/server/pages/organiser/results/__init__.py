"""Organisers' pages about results: submissions, appeals, re-scoring, release, the report of the campaign."""

from basanite.server.pages.organiser.results import appeals, batch, level, release, report, rescoring, run, submissions

ROUTERS = tuple(page.ROUTER for page in (submissions, run, appeals, rescoring, batch, release, level, report))
