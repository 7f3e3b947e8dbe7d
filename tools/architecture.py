"""The picture of the architecture: which folder uses which, drawn from one table that a test holds against the imports.

`python -m tools.architecture` writes `docs/pictures/architecture.svg`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).resolve().parent.parent
PICTURE: Final = ROOT / "docs" / "pictures" / "architecture.svg"


@dataclass(frozen=True, slots=True)
class Band:
    """A row of the picture: folders of one kind, none of which is used by a row below."""

    title: str
    folders: tuple[str, ...]


BANDS: Final = (
    Band("Doors", ("server", "testing", "demo", "cli")),
    Band("A season", ("campaign",)),
    Band(
        "Designs, receipts",
        (
            "models",
            "work",
            "reading",
            "harness",
            "clusters",
            "representation",
            "programs",
            "sandbox",
            "receipts",
            "spine",
        ),
    ),
    Band("Five stages", ("synthetic", "scoring", "result", "functions")),
    Band("Tasks, reports", ("tasks", "reports")),
    Band("Their parts", ("formats", "metrics", "analysis")),
    Band("The ground", ("problems", "errors", "moved", "canonical", "registry", "kernel", "figures", "extras")),
)
USES: Final = {
    "server": ("campaign",),
    "testing": ("campaign",),
    "demo": ("testing",),
    "cli": ("demo", "campaign", "scoring"),
    "campaign": ("work", "reading", "programs", "receipts"),
    "models": ("functions",),
    "work": ("reading",),
    "harness": ("clusters", "sandbox", "synthetic"),
    "receipts": ("scoring",),
    "spine": ("scoring",),
    "scoring": ("tasks", "reports"),
    "tasks": ("formats", "metrics", "analysis"),
    "reports": ("analysis",),
    "formats": ("problems",),
    "metrics": ("kernel",),
    "analysis": ("kernel",),
}
"""The arrows: not every import, but the ones along which a submission becomes a report."""

WIDTH, ROW, BOX, TALL, LEFT = 1200, 84, 104, 38, 140
INK, SOFT, LINE, FILL, GROUND = "#1d2733", "#5b6876", "#8fa1b3", "#ffffff", "#f4f6f8"


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)} written")


def drawn() -> str:
    """The picture as SVG."""
    height = ROW * len(BANDS) + 16
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    return "\n".join(
        [
            f'{head} font-family="system-ui, sans-serif" aria-label="Which folder uses which, from top to bottom">',
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{GROUND}"/>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>',
            *_arrows(),
            *_rows(),
            "</svg>\n",
        ]
    )


def _places() -> dict[str, tuple[float, float]]:
    """The middle of each box."""
    placed = {}
    for row, band in enumerate(BANDS):
        step = (WIDTH - LEFT) / len(band.folders)
        for column, name in enumerate(band.folders):
            placed[name] = (LEFT + step * (column + 0.5), 8 + ROW * (row + 0.5))
    return placed


def _rows() -> Iterator[str]:
    places = _places()
    for row, band in enumerate(BANDS):
        yield f'<text x="18" y="{8 + ROW * (row + 0.5) + 5}" font-size="13" fill="{SOFT}">{escape(band.title)}</text>'
        for name in band.folders:
            x, y = places[name]
            box = f'x="{x - BOX / 2}" y="{y - TALL / 2}" width="{BOX}" height="{TALL}"'
            yield f'<rect {box} rx="6" fill="{FILL}" stroke="{LINE}"/>'
            yield f'<text x="{x}" y="{y + 5}" font-size="14" text-anchor="middle" fill="{INK}">{name}</text>'


def _arrows() -> Iterator[str]:
    places = _places()
    for user, used in USES.items():
        for name in used:
            yield _arrow(places[user], places[name])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A curve from the lower edge of one box to the upper edge of another, or from side to side in one row."""
    (x1, y1), (x2, y2) = start, end
    style = f'fill="none" stroke="{LINE}" stroke-width="1.6" marker-end="url(#tip)"'
    if y1 == y2:
        side = BOX / 2 if x2 > x1 else -BOX / 2
        return f'<path d="M{x1 + side} {y1} L{x2 - side} {y2}" {style}/>'
    y1, y2 = y1 + TALL / 2, y2 - TALL / 2 - 1
    bend = (y2 - y1) / 2
    return f'<path d="M{x1} {y1} C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}" {style}/>'


if __name__ == "__main__":
    main()
