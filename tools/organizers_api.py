"""The list of calls in docs/reference/organizers-api.md, from the declared actions.

`python -m tools.organizers_api` brings the page up to date.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from basanite.campaign.actions.registry import Action, every_action

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "reference" / "organizers-api.md"
FIRST: Final = "<!-- calls -->\n"
LAST: Final = "<!-- end of calls -->\n"


def main() -> None:
    """Write the list of calls into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(FIRST)
    PAGE.write_text(before + FIRST + "\n".join(["", *lines(), ""]) + LAST + rest.partition(LAST)[2], encoding="utf-8")
    print(f"{PAGE} written")


def lines() -> Iterator[str]:
    """One table of calls for campaigns and one for the server."""
    offered = [one for one in every_action().values() if one.programs]
    for title, inside in (("Below /api/v1/campaigns/SLUG/actions", True), ("Below /api/v1/actions", False)):
        yield from (f"### {title}", "", "| call | fields | what it does |", "|---|---|---|")
        yield from (row_of(one) for one in offered if one.in_campaign == inside)
        yield ""


def row_of(action: Action) -> str:
    """An action in one row; fields that may be left out stand in brackets."""
    verb = "GET" if action.reads else "POST"
    fields = [
        f"`{name}`" if info.is_required() else f"[`{name}`]" for name, info in action.arguments.model_fields.items()
    ]
    words = action.help.replace("\n", " ").replace("|", "\\|")
    more = " May take two people." if action.two else ""
    return f"| `{verb} {action.slug}` | {' '.join(fields)} | {' '.join(words.split())}{more} |"


if __name__ == "__main__":
    main()
