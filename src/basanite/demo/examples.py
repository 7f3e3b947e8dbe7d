"""The football example that the demo reads: of the source tree, else as the wheel brought it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PACKAGE, CONFIG = "reading/nfl", "annotation/nfl-scoring.yaml"
NEEDED: Final = ("pyoxigraph", "clingo")
"""Packages of the extra `reading`."""
INSTALL: Final = "pip install -r requirements/reading.txt"
NO_EXAMPLE: Final = "this installation came without the example. The source tree has it."


@dataclass(frozen=True)
class Examples:
    """Where the files of the example lie."""

    folder: Path

    @property
    def package(self) -> Path:
        """The reports with ontology, rules, queries and gold."""
        return self.folder / PACKAGE

    @property
    def config(self) -> str:
        """What is to be marked in them."""
        return (self.folder / CONFIG).read_text(encoding="utf-8")


def examples() -> Examples | None:
    """The example, where there is one."""
    spec = importlib.util.find_spec("basanite_examples")
    installed = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    places = (Path(__file__).resolve().parents[3] / "examples", *installed)
    return next((Examples(one) for one in places if (one / PACKAGE / "package.toml").is_file()), None)


def lacking(needed: tuple[str, ...] = NEEDED) -> str:
    """What is missing for machine reading, with the cure; "" if nothing is."""
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        return f"it needs {' and '.join(missing)}. Install them: {INSTALL}"
    return "" if examples() else NO_EXAMPLE
