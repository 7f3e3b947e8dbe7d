"""Pages of a team's own runs: submitting, following, comparing, certifying."""

from basanite.server.pages.runs import certification, compare, submission, submissions, submit

ROUTERS = tuple(page.ROUTER for page in (submit, submissions, submission, compare, certification))
