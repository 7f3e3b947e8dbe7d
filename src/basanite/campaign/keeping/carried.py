"""What an export carries: which tables, which of their rows, and which columns name persons. Everything else stays.

No account, role, membership, token, session, acceptance, signed copy, message or key is among them (X-15).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Select, select

from basanite.campaign.keeping.rows import TABLES

FORMAT: Final = "basanite-export/1"
MANIFEST: Final = "export.json"
BY_CAMPAIGN: Final = (
    "plans",
    "freezes",
    "deviations",
    "pack_files",
    "teams",
    "resources",
    "submissions",
    "references",
    "batches",
    "boards",
    "releases",
    "certifications",
    "appeals",
    "milestone_states",
    "announcements",
    "questions",
    "downloads",
    "panels",
    "annotation_projects",
    "annotation_configs",
    "annotation_documents",
    "annotation_tasks",
    "annotation_events",
    "annotation_decisions",
    "reading_packages",
    "reading_tasks",
    "reading_runs",
    "reading_uploads",
    "reading_pool",
    "reading_answers",
    "reading_decisions",
    "reading_golds",
    "reading_scores",
    "reading_marks",
)
BY_OTHER: Final[Mapping[str, tuple[str, str]]] = {
    "charges": ("team_id", "teams"),
    "extras": ("team_id", "teams"),
    "results": ("submission_id", "submissions"),
    "adoptions": ("submission_id", "submissions"),
    "batch_items": ("batch_id", "batches"),
    "receipts": ("submission_id", "submissions"),
    "panel_schemes": ("panel_id", "panels"),
    "panel_items": ("panel_id", "panels"),
    "panel_images": ("panel_id", "panels"),
    "panel_assignments": ("panel_id", "panels"),
    "judgements": ("panel_id", "panels"),
    "panel_round_ends": ("panel_id", "panels"),
    "panel_decisions": ("panel_id", "panels"),
    "panel_hidden": ("panel_id", "panels"),
    "crowd_batches": ("panel_id", "panels"),
}
"""Tables without a campaign of their own: by which column they belong to which table."""
CARRIED: Final = tuple(name for name in TABLES if name == "campaigns" or name in BY_CAMPAIGN or name in BY_OTHER)
"""All tables that are carried, those that others refer to first."""
PERSONS: Final = frozenset(
    {
        "added_by",
        "answered_by",
        "by",
        "decided_by",
        "ended_by",
        "executed_by",
        "imported_by",
        "made_by",
        "named_by",
        "person_id",
        "seconded_by",
        "standing_by",
    }
)
"""Columns that hold the id of a person: a pseudonym, here and there (P-21)."""
NOBODY: Final = frozenset({"system", "command"})
INSIDE: Final[Mapping[str, str]] = {
    "team_id": "teams",
    "submission_id": "submissions",
    "reference_id": "references",
    "result_key": "results",
    "batch_id": "batches",
    "appeal_id": "appeals",
    "panel_id": "panels",
    "item_id": "panel_items",
    "assignment_id": "panel_assignments",
    "annotation_project_id": "annotation_projects",
    "annotation_document_id": "annotation_documents",
    "annotation_task_id": "annotation_tasks",
    "reading_package_id": "reading_packages",
    "reading_task_id": "reading_tasks",
    "reading_run_id": "reading_runs",
    "reading_upload_id": "reading_uploads",
    "reading_pool_id": "reading_pool",
}
"""Columns that name a row of another table, which must be carried too: nothing may reach into another campaign."""


def rows_of(table: str, campaign_id: str) -> Select[Any]:
    """The question for the rows of a table that belong to a campaign."""
    columns = TABLES[table].columns
    if table == "campaigns":
        return select(TABLES[table]).where(columns["id"] == campaign_id)
    if table in BY_CAMPAIGN:
        return select(TABLES[table]).where(columns["campaign_id"] == campaign_id)
    column, other = BY_OTHER[table]
    ids = select(TABLES[other].columns["id"]).where(TABLES[other].columns["campaign_id"] == campaign_id)
    return select(TABLES[table]).where(columns[column].in_(ids))


def key_of(table: str) -> str:
    """The column that names a row."""
    return str(next(iter(TABLES[table].primary_key.columns)).name)
