"""Versions of the gold that grew on the server, put beside those that a package came with."""

from __future__ import annotations

import shutil
from pathlib import Path

from basanite.campaign.answering.inside.desk import Desk


def lay_gold(desk: Desk, root: Path) -> None:
    """Put versions of the gold beside those that the package came with."""
    (root / "gold").mkdir(exist_ok=True)
    for role, path in desk.files.items():
        if role.startswith("gold_"):
            shutil.copyfile(path, root / "gold" / f"{role.removeprefix('gold_')}.ndjson")
