"""What backups were written from a data folder, one line each, so that operators see the last one (P-44)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

NAME: Final = "backups.jsonl"


def note_backup(data: Path, at: datetime, out: Path, saved: Mapping[str, Any]) -> None:
    """Add a line for a backup that is complete; nothing about it is secret."""
    line = {
        "at": at.isoformat(timespec="seconds"),
        "file": out.name,
        "bytes": out.stat().st_size,
        "files": saved["files"],
        "sequence": saved["log"]["sequence"],
        "missing": len(saved["missing"]),
    }
    with (data / NAME).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def past_backups(data: Path) -> list[dict[str, Any]]:
    """The backups, oldest first; a line that was cut off by a full disk is left out."""
    try:
        lines = (data / NAME).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [found for found in map(_read, lines) if found]


def _read(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
