"""Organisers' pages for saying something: announcements, answers, mails to roles, webhooks (P-10, P-34)."""

from basanite.server.pages.organiser.saying import announcing, answering, mailing, webhooks

ROUTERS = tuple(page.ROUTER for page in (announcing, answering, mailing, webhooks))
