"""One row of each table of reading; what they say does not matter."""

from __future__ import annotations

from basanite.campaign.store import tables


def reading_rows(session, campaign_id, now):
    """Add them."""
    where = {"campaign_id": campaign_id}

    def add(row):
        session.add(row)
        session.flush()
        return row.id if hasattr(row, "id") else row.key

    package = add(
        tables.ReadingPackage(
            **where,
            name="p",
            version="1",
            title="",
            digest="",
            open_digest="",
            index_digest="",
            parts=[],
            made=now,
            by="",
        )
    )
    of = where | {"reading_package_id": package}
    facts = {"mode": "formal", "part": "test", "sealed": True, "content": "", "documents": 0}
    task = add(tables.ReadingTaskRow(**of, **facts, choice={}, files={}, queries=[], made=now, by=""))
    run = add(
        tables.ReadingRun(
            **of, reading_task_id=task, side="machine", whose="x", label="", key="k", made=now, person_id=""
        )
    )
    mine = where | {"reading_run_id": run}
    add(
        tables.ReadingEffort(
            **mine, key="k", activity="rules", minutes=1.5, rules=1, examples=0, note="", at=now, person_id=""
        )
    )
    upload = add(
        tables.ReadingUpload(
            **mine, key="k", digest="", media="", taken=0, problems=[], counted=0, at=now, person_id=""
        )
    )
    pool = add(tables.PooledAnswer(**of, query="", document="", part="", bindings=[], told={}, digest="d", at=now))
    add(
        tables.ReceivedAnswer(
            **mine,
            reading_upload_id=upload,
            reading_pool_id=pool,
            sequence=1,
            line=1,
            kind="explicit",
            provenance=[],
            at=now,
        )
    )
    add(tables.ReadingDecision(**where, reading_pool_id=pool, sequence=1, verdict="wrong", at=now, by=""))
    add(tables.ReadingGold(**of, number=1, digest="", added=0, reason="", made=now, by=""))
    add(tables.ReadingScore(**mine, key="k", gold="v1", digest="", at=now))
    add(tables.ReadingMark(**mine, query="", document="", state="done", at=now))
    add(tables.ReadingSearch(**where, package=package, person_id="", text="", hits=0, at=now))
