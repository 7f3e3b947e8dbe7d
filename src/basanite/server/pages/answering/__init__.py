"""Reading for people: answering questions with evidence, adjudicating answers, and watching the gold grow."""

from basanite.server.pages.answering import case, gold, home, question

ROUTERS = (home.ROUTER, case.ROUTER, gold.ROUTER, question.ROUTER)
