"""Files for the examples of `verify`, `decrypt` and `restore`: a receipt, a sealed file, a backup, with their keys."""

from __future__ import annotations

import shutil
from pathlib import Path

from basanite.campaign.archive.backup import back_up
from basanite.campaign.sealing import Lock, seal
from basanite.testing import small_office

GOLDEN = Path(__file__).parent / "golden"
KEY = bytes(range(32))


def kept_files(folder: Path) -> None:
    """Write them into a folder."""
    receipt = GOLDEN / "verify-bundle" / "files"
    for name in ("score.receipt.json", "keys.json"):
        shutil.copyfile(receipt / name, folder / name)
    (folder / "docs.tgz.sealed").write_bytes(b"".join(seal([b"documents"], Lock(KEY))))
    for name in ("pack.key", "old.key"):
        (folder / name).write_text(KEY.hex(), encoding="ascii")
    office = small_office(folder / "empty")
    try:
        back_up(office, Lock(KEY), folder / "old.backup")
    finally:
        office.close()
