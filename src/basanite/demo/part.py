"""The process that makes one part of the demo, `python -m basanite.demo.part KEY DATA`: it loads what that needs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from basanite.demo import harness, representation
from basanite.server import demo_parts as parts
from basanite.server.demo_parts import Progress

Work = Callable[[Path, Callable[[int, int], None]], None]
WORKS: Final[Mapping[str, Work]] = {"harness": harness.make, "representation": representation.make}
BEHIND: Final = 5
"""How much more urgent whatever somebody waits for is."""


def main(key: str, data: Path) -> None:
    """Make one part, in this process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(BEHIND)

    def tell(done: int, of: int) -> None:
        parts.write(data, Progress(key, "working", done, of))

    place = parts.place(data, key)
    place.mkdir(parents=True, exist_ok=True)
    WORKS[key](place, tell)
    parts.write(data, Progress(key, "ready"))


def _end_with_parent() -> None:
    os.read(0, 1)  # nothing ever comes but the end
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
