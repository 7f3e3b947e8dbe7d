"""Kinds of what people judged: Appraise, direct assessment, MQM."""

from __future__ import annotations

from typing import Final

from basanite.formats.kinds.kind import Beginning, Kind

_ITEM_TYPES = ("TGT", "BAD", "CHK", "REF")


def _is_appraise(start: Beginning) -> bool:
    rows = start.cells(",")
    return bool(rows) and all(len(row) >= 8 and any(kind in row for kind in _ITEM_TYPES) for row in rows[1:] or rows)


APPRAISE: Final = Kind(
    "an export of Appraise",
    _is_appraise,
    (".csv",),
    "the judgments of people are ranked by a command of their own",
    commands=("judge systems {path}",),
    sign="each row has a cell `TGT`, `BAD`, `CHK` or `REF`; commas separate at least eight of them",
    record="judgment",
)
ASSESSMENT: Final = Kind(
    "a table of direct assessment",
    lambda start: start.text.startswith(("HITId WorkerId ", "HITId\tWorkerId\t")),
    (),
    "the judgments of people are ranked by a command of their own",
    commands=("judge systems {path}",),
    sign="the header begins with `HITId` and `WorkerId`",
    record="judgment",
    comment="HITId",
)
MQM: Final = Kind(
    "a table of MQM",
    lambda start: start.text.startswith("system\tdoc\t"),
    (".tsv",),
    "the judgments of people are ranked by a command of their own",
    commands=("judge systems {path}",),
    sign="the header begins with `system` and `doc`; tabs separate it",
    record="marked error",
    comment="system\tdoc\t",
)
