"""What a plan lets teams learn about sealed references, as `basanite admin rehearse` prints it (X-23)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from basanite.campaign.model.exposure import Exposure, unprotected
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.rehearsal.recovery import Recovery, recoveries
from basanite.reports.wording import plural

NO_BOUND = "values are not rounded, so nothing bounds what they tell about the sealed reference."
UNKNOWN = "The prober is simulated for CLIR with AQWV; for what else there is, only the bound is known."


def exposure_of(campaign: Campaign, reference: Path | None) -> tuple[dict[str, Any], list[str]]:
    """The keys of the JSON answer, and the same in words."""
    found = recoveries(campaign, reference)
    warnings = [one.as_dict() for one in unprotected(campaign)]
    shown = {"exposure": [_data(*one, made_up=reference is None) for one in found], "warnings": warnings}
    lines = [_words(*one, made_up=reference is None) for one in found]
    return shown, [*lines, UNKNOWN] if any(recovery is None for _, recovery in found) else lines


def warning_lines(campaign: Campaign) -> list[str]:
    """What a plan leaves open, and how to close it."""
    return [f"Warning: {one.message} ({one.rule}). To do: {one.fix}" for one in unprotected(campaign)]


def _data(exposure: Exposure, recovery: Recovery | None, *, made_up: bool) -> dict[str, Any]:
    return {
        "window": exposure.window,
        "task": exposure.task,
        "attempts": exposure.attempts,
        "looks": exposure.plain,
        "ladder": exposure.laddered,
        "values": exposure.values,
        "bits": round(exposure.bits) if math.isfinite(exposure.bits) else None,
        "recovered": None
        if recovery is None
        else {
            "submissions": recovery.submissions,
            "guesses": recovery.guesses,
            "hits": recovery.hits,
            "chance": round(recovery.chance, 1),
            "relevant": recovery.relevant,
            "labels": recovery.labels,
            "key_bits": round(recovery.key_bits),
            "made_up": made_up,
        },
    }


def _words(exposure: Exposure, recovery: Recovery | None, *, made_up: bool) -> str:
    most = "some" if exposure.laddered else "at most"  # a move on the ladder shows a value, too, rounded to its step
    rounded = math.isfinite(exposure.bits)
    looks = plural("result", exposure.plain) + (f" of {plural('value', exposure.values)}" if rounded else " in full")
    ladder = f", and make {exposure.laddered:,} tries on the ladder" if exposure.laddered else ""
    bound = f"{most} {exposure.bits:,.0f} bits about the sealed reference." if rounded else NO_BOUND
    words = f"{exposure.window}, {exposure.task}: a team may look at {looks}{ladder}: {bound}"
    if recovery is None:
        return words
    part = "" if recovery.submissions == exposure.attempts else f"the first {recovery.submissions:,} of "
    key = "a made-up key" if made_up else "the key"
    return (
        f"{words} With {part}{plural('submission', exposure.attempts)} a simulated prober found {recovery.hits:,} of"
        f" {plural('relevant document', recovery.relevant)} among {recovery.labels:,} labels of {key}"
        f" ({recovery.key_bits:,.0f} bits); so many guesses find {recovery.chance:.1f}."
    )
