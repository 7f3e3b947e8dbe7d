"""Pages of teams: making, joining, inviting, handing over, and the resources that teams declare."""

from basanite.server.pages.teams import invitation, resources, team

ROUTERS = tuple(page.ROUTER for page in (team, invitation, resources))
