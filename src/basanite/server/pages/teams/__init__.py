"""Pages of teams: making, joining, inviting, handing over."""

from basanite.server.pages.teams import invitation, team

ROUTERS = tuple(page.ROUTER for page in (team, invitation))
