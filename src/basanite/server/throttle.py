"""How often one address may guess: after too many wrong tokens or passwords it has to wait (P-11)."""

from __future__ import annotations

from datetime import UTC, datetime

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from basanite.campaign.model.refusals import RefusedError, refused

GUESSES = parse("20/minute")
"""Wrong tokens from one address."""


class Throttle:
    """Counts of what came from where. Each process counts for itself; a proxy before several may count for all."""

    def __init__(self) -> None:
        self.limiter = MovingWindowRateLimiter(MemoryStorage())

    def check(self, limit: RateLimitItem, *who: str) -> None:
        """Refuse if there is nothing left for this caller; counts nothing."""
        if not self.limiter.test(limit, *who):
            raise too_often(self.limiter.get_window_stats(limit, *who).reset_time)

    def count(self, limit: RateLimitItem, *who: str) -> None:
        """Count one, and refuse if it was one too many."""
        if not self.limiter.hit(limit, *who):
            raise too_often(self.limiter.get_window_stats(limit, *who).reset_time)


def too_often(until: float) -> RefusedError:
    """The refusal of a caller who has to wait."""
    when = datetime.fromtimestamp(until, UTC)
    return refused("P-11", "too many attempts from this address", "wait, then try again", status=429, retry_at=when)
