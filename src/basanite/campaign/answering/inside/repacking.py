"""A package with its grown gold as one archive again: the reference that submissions are scored against next."""

from __future__ import annotations

from basanite.campaign.answering.inside.desk import TASK, Desk
from basanite.campaign.answering.inside.golding import lay_gold
from basanite.campaign.answering.inside.preparing import pack
from basanite.errors import InvalidInputError
from basanite.problems import Findings
from basanite.reading.package.checks import check_package


def repack(desk: Desk) -> None:
    """Put the versions of the gold into the package, check it once more, and write `package.tgz`."""
    root = desk.root()
    lay_gold(desk, root)
    findings = Findings()
    check_package(root, findings)
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    pack(root, desk.out / "package.tgz")
