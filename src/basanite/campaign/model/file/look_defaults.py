"""What holds for looks at sealed references where a campaign's file says nothing (X-23)."""

from __future__ import annotations

from dataclasses import replace

from basanite.campaign.model import stages
from basanite.campaign.model.exposure import USUAL_LOOKS
from basanite.campaign.model.file.entries import CampaignEntries
from basanite.campaign.model.ladder import USUAL_ERRORS
from basanite.campaign.model.plan import Campaign, Window


def with_looks(campaign: Campaign, top: CampaignEntries) -> Campaign:
    """The campaign, with looks or a ladder in every window that shows values on sealed references."""
    rows = zip(campaign.windows, top.tables("windows"), strict=True)
    return replace(campaign, windows=tuple(_with_looks(campaign, window, entry) for window, entry in rows))


def _with_looks(campaign: Campaign, window: Window, entry: CampaignEntries) -> Window:
    """One of the two is off only where the file says so, and both only where it says both."""
    if stages.is_blind(window) or not stages.is_sealed(campaign, window):
        return window
    if window.looks is not None or window.ladder is not None:
        return window
    if "looks" not in entry.values:
        return replace(window, looks=USUAL_LOOKS)
    return window if "ladder" in entry.values else replace(window, ladder=USUAL_ERRORS)
