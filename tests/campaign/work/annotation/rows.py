"""One row in each table of annotation; what they say does not matter."""

from basanite.campaign.store.tables import (
    AnnotationConfig,
    AnnotationDecision,
    AnnotationDocument,
    AnnotationEvent,
    AnnotationProject,
    AnnotationSuggestion,
    AnnotationTask,
)


def annotation_rows(session, campaign_id, now):
    """Add them."""
    where = {"campaign_id": campaign_id}
    session.add(AnnotationProject(**where, id="p", name="p", files={}, digest="", seed=1, made=now, by="command"))
    session.flush()
    mine = {**where, "project_id": "p"}
    session.add_all(
        [
            AnnotationConfig(**mine, generation=1, version=1, text="", digest="", diff=[], made=now, by="command"),
            AnnotationDocument(**mine, id="d", name="d", part="train", store="files", digest="0" * 64, length=1),
        ]
    )
    session.flush()
    session.add(AnnotationTask(**mine, id="t", document_id="d", person_id="x", position=1, made=now, by="command"))
    session.flush()
    marks = {"category": "", "parts": [], "fields": {}, "made": now, "by": "x"}
    session.add(AnnotationSuggestion(**mine, document_id="d", number=1, source="", **marks))
    ours = {**where, "task_id": "t", "generation": 1, "sequence": 1, "at": now}
    session.add_all(
        [
            AnnotationEvent(**ours, client_id="c", kind="done", data={}),
            AnnotationDecision(**ours, document_id="d", case="k", verdict="none", events=[], by="x"),
        ]
    )
    session.flush()
