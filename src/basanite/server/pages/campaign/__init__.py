"""Pages of one campaign that everybody may look at, each as far as the policy lets them."""

from basanite.server.pages.campaign import announcements, calendar, home, leaderboard, packs, questions

ROUTERS = tuple(page.ROUTER for page in (home, calendar, packs, leaderboard, announcements, questions))
