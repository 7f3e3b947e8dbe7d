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
    reference = session.get_one(Reference, result.reference_id)
    plan = at_version(session, submission.campaign_id, result.plan_version)
    return Provenance(
        plan_version=result.plan_version,
        plan=plan.plan_version,
        reference_version=reference.version,
        software=result.software,
        settings={name: value for name, value in result.settings.items() if name != "seed"},
    )


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
