"""Annotation in the browser: the annotator's queue and page, adjudication, organisers' projects (R-14 to R-16)."""

from basanite.server.pages.annotating import (
    agreement,
    decide,
    disagreements,
    export,
    preview,
    project,
    projects,
    queue,
    text,
    truth,
)

ROUTERS = (
    queue.ROUTER,
    disagreements.ROUTER,
    decide.ROUTER,
    text.ROUTER,
    projects.ROUTER,
    preview.ROUTER,
    agreement.ROUTER,
    export.ROUTER,
    truth.ROUTER,
    project.ROUTER,
)
"""Addresses that name something come after those that are fixed: they would match them too."""
