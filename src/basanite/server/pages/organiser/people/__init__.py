"""Organisers' pages about people: requests and roles, acts of two, teams."""

from basanite.server.pages.organiser.people import approvals, people, team, teams

ROUTERS = tuple(page.ROUTER for page in (people, approvals, teams, team))
