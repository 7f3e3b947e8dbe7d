"""What a system's description must hold before its run is shown to anybody (M77, P-31)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from basanite.campaign.model.plan import Campaign


def missing_fields(campaign: Campaign, track: str, description: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that the track requires and the description leaves empty; such a run is held back (P-31)."""
    required = next((one.required for one in campaign.tracks if one.id == track), ())
    return tuple(name for name in required if not str(description.get(name) or "").strip())
