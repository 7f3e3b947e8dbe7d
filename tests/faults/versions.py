"""Processes of a newer version: one migration and one column more than this program has."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any, Final

from sqlalchemy import String
from sqlalchemy.orm import mapped_column
from tests.offices.machines import serve

from basanite.campaign.jobs.worker import running
from basanite.campaign.office import Office
from basanite.campaign.settings import Settings
from basanite.campaign.store import schema
from basanite.campaign.store.tables import Worker

NEWER: Final = "9999"
MIGRATION: Final = '''"""Workers say on which shelf they stand; shelves have names."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{revision}", "{before}", None, None


def upgrade():
    op.add_column("workers", sa.Column("shelf", sa.String(), nullable=True))
    op.add_column("submissions", sa.Column("shelf", sa.String(), nullable=True))
    op.create_table("shelves", sa.Column("name", sa.String(), primary_key=True))


def downgrade():
    op.drop_table("shelves")
    op.drop_column("submissions", "shelf")
    op.drop_column("workers", "shelf")
'''


def newer_migrations(folder: Path) -> Path:
    """The migrations of this program and one more, in a folder."""
    before = schema.newest()
    shutil.copytree(schema.FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = MIGRATION.replace("{revision}", NEWER).replace("{before}", before)
    (folder / "versions" / f"v{NEWER}.py").write_text(text, encoding="utf-8")
    return folder


def become_newer(folder: str) -> None:
    """Make this process one of the newer version."""
    schema.FOLDER = Path(folder)
    shelf: Any = mapped_column(String())
    Worker.shelf = shelf


def work_newer(settings: Settings, folder: str) -> None:
    """Be a worker of the newer version: it brings the database up to date, as every command does, and uses it."""
    become_newer(folder)
    office = Office.open(settings)
    schema.upgrade(office.database)
    with running(office) as engine:
        with office.writing() as session:
            session.get_one(Worker, engine.executor).shelf = "new"  # type: ignore[attr-defined]
        threading.Event().wait()


def serve_newer(settings: Settings, port: int, folder: str) -> None:
    """Be a server of the newer version."""
    become_newer(folder)
    schema.upgrade(Office.open(settings).database)
    serve(settings, port)
