"""What programs may call, under /api/v1: the calendar, packs, uploads, submissions, results, receipts and tokens."""

from __future__ import annotations

from basanite.server.api.routers import PREFIX, ROUTER
from basanite.server.api.schema import completed

__all__ = ["PREFIX", "ROUTER", "completed"]
