"""A reference that comes as one file, from a page or a program: checked like a submission, then sealed (X-1)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from basanite.campaign.actions import approvals, references, two_people
from basanite.campaign.actions.references import NewVersion, Paths, Place
from basanite.campaign.model.plan import Campaign
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import CampaignRow, Reference
from basanite.campaign.turns import turn

LARGEST: Final = 2 * 2**30


def add_from_file(
    office: Office,
    actor: Actor,
    here: tuple[CampaignRow, Campaign],
    place: Place,
    path: Path,
    *,
    name: str,
    reason: str,
) -> Reference:
    """Add a version, which is checked before the transaction begins; the first of a place opens its task.

    Where the campaign says so, the first one waits for a second organizer (X-4).
    """
    # Seven arguments: who acts where, and what comes in; page and program name them all.
    row, campaign = here
    two = two_people.needs_two(campaign, "reference")
    with office.reading() as session:
        held = references.active_material(session, row.id, place)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:  # beside the sealed files, never elsewhere
        named = path.rename(Path(folder) / _plain(name))
        material = references.take_in(office, Paths((named,))).after(held)
        with turn(office, row.id, "preview"):
            references.check_files(office, campaign, place, material)
    with office.writing() as session:
        who = (session, office, actor, row.id)
        made = references.add(*who, NewVersion(place, material, reason=reason, hold=two))
        if held is None and two:
            approvals.ask_to_open(*who, made.id)
    return made


def _plain(name: str) -> str:
    """The name of an uploaded file without what could leave its folder; formats are told by its ending."""
    ending = "".join(Path(name).suffixes[-2:])[-20:]
    kept = "".join(char for char in ending if char.isascii() and (char.isalnum() or char == "."))
    return f"reference{kept}"
