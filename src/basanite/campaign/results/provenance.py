"""What stands with every result, so that anybody can tell how it was made and make it again (M80)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.results.seen import Provenance
from basanite.campaign.store.plans import at_version
from basanite.campaign.store.tables import Reference, Result, Submission

SEED: Final = re.compile(r"\|seed:[^|]*")


def provenance(session: Session, submission: Submission, result: Result) -> Provenance:
    """Plan version, settings with beta, version of the key and of the program behind a result."""
    plan, reference = _made_with(session, submission.campaign_id, result)
    return Provenance(
        plan_version=result.plan_version,
        plan=plan,
        reference_version=reference,
        software=result.software,
        settings={name: value for name, value in result.settings.items() if name != "seed"},
    )


def _made_with(session: Session, campaign_id: str, result: Result) -> tuple[str, int]:
    """What the plan's file calls its version, and the version of the key.

    Neither ever changes once there is a result, and most results of a page share both: a session asks once.
    """
    known: dict[tuple[object, ...], tuple[str, int]] = session.info.setdefault(__name__, {})
    key = (campaign_id, result.plan_version, result.reference_id)
    if key not in known:
        plan = at_version(session, campaign_id, result.plan_version)
        known[key] = plan.plan_version, session.get_one(Reference, result.reference_id).version
    return known[key]


def without_seed(data: Mapping[str, Any]) -> dict[str, Any]:
    """A result without the seed of its draws, which a sealed campaign keeps to itself (X-1).

    >>> without_seed({"settings": {"seed": 7, "beta": 20.0}, "signature": "task:clir|seed:7|beta:20"})
    {'settings': {'beta': 20.0}, 'signature': 'task:clir|beta:20'}
    """
    kept = dict(data)
    if "settings" in kept:
        kept["settings"] = {name: value for name, value in kept["settings"].items() if name != "seed"}
    if "signature" in kept:
        kept["signature"] = SEED.sub("", str(kept["signature"]))
    return kept
