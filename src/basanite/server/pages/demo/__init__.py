"""The demo's own pages: a tour, and what is made while people look around. No other server has them (X-15)."""

from basanite.server.pages.demo import files, tour

ROUTERS = (tour.ROUTER, files.ROUTER)
