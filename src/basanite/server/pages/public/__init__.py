"""Pages for everybody: what a campaign has released to the public, its plan with deviations, and its systems.

They show what `basanite publish` writes, from the same gathered content: names as each team agreed (P-25), and nothing
that has not been released at the level `public`, whoever looks.
"""

from basanite.server.pages.public import board, plan, results, system

ROUTERS = tuple(page.ROUTER for page in (results, board, system, plan))
