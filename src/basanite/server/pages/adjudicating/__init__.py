"""Adjudicators' pages: the queue of disagreements, and one case at a time, decided by keys or by mouse (M88)."""

from basanite.server.pages.adjudicating import case, image, queue, queues

ROUTERS = (queues.ROUTER, queue.ROUTER, image.ROUTER, case.ROUTER)
