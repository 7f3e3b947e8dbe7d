"""Versions of the gold: each file is the whole gold at one time, and none is ever changed (R-17)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.registry import suggestion

_VERSION: Final = re.compile(r"v([0-9]{1,6})")


def versions(root: Path) -> dict[str, Path]:
    """The gold files of a package by version, oldest first."""
    found = {path.stem: path for path in (root / "gold").glob("v*.ndjson") if _VERSION.fullmatch(path.stem)}
    return dict(sorted(found.items(), key=lambda item: int(item[0][1:])))


def version_path(root: Path, wanted: str | None) -> tuple[str, Path]:
    """One version and its file; without a wish, the newest."""
    known = versions(root)
    if not known:
        raise SettingError(f"{root} has no gold: it needs a file gold/v1.ndjson.")
    name = wanted or next(reversed(known))
    if name not in known:
        raise SettingError(f"The package has no gold {name!r}. {suggestion(name, tuple(known))}")
    return name, known[name]
