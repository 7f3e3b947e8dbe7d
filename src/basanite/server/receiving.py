"""Bytes on their way in: handed piece by piece to who writes them, never held in memory, never waited for without end.

The intake writes in a thread (P-11); its pieces are pulled from the call here, so that a sender who stalls or crawls is
let go while what arrived stays and counts.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from anyio import CapacityLimiter, from_thread, to_thread
from starlette.requests import ClientDisconnect, Request

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.server.roles import Caller

Result = TypeVar("Result")


@dataclass(frozen=True)
class Pace:
    """How long a sender is waited for."""

    idle: float = 30.0
    """Seconds without a byte after which a sender is let go; the upload can be taken up again."""
    slowest: float = 1024.0
    """Bytes a second, on average over one call, below which a sender only blocks others."""
    patience: float = 60.0
    """The average is looked at only after this time."""


class Lanes:
    """Threads that wait for senders: apart from those of all other calls, and only so many for one person (P-11)."""

    def __init__(self, together: int = 64, each: int = 8) -> None:
        self.limiter, self.each = CapacityLimiter(together), each
        self.busy: Counter[str] = Counter()

    @contextmanager
    def one_of(self, who: str, retry_at: datetime) -> Iterator[CapacityLimiter]:
        """A lane for somebody, unless they have enough of them already."""
        if self.busy[who] >= self.each:
            fix = "wait until one of them has ended"
            words = f"{self.each} calls of yours are under way"
            raise refused("P-11", words, fix, status=429, retry_at=retry_at)
        self.busy[who] += 1
        try:
            yield self.limiter
        finally:
            self.busy[who] -= 1
            self.busy += Counter()  # whoever has none left is forgotten


async def received(request: Request, work: Callable[[Iterator[bytes]], Result]) -> Result:
    """Do some work in a thread on the pieces of a call's body, as they come."""
    pace: Pace = getattr(request.app.state, "pace", Pace())
    lanes: Lanes = request.app.state.lanes
    request.state.streams = True
    caller: Caller = request.state.caller
    later = caller.office.clock() + timedelta(seconds=pace.idle)
    with lanes.one_of(str(caller.viewer.person), later) as limiter:
        pieces = _pieces(_paced(request.stream(), pace))
        return await to_thread.run_sync(lambda: work(pieces), limiter=limiter)


def _pieces(parts: AsyncIterator[bytes]) -> Iterator[bytes]:
    """The parts of a body, pulled from the thread of the work."""
    while True:
        part: bytes | None = from_thread.run(_next, parts)
        if part is None:
            return
        yield part


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)


async def _paced(body: AsyncIterator[bytes], pace: Pace) -> AsyncIterator[bytes]:
    """The parts of a body, as long as its sender is there and neither stalls nor crawls."""
    started, size, parts = time.monotonic(), 0, aiter(body)
    while True:
        try:
            part = await asyncio.wait_for(anext(parts), pace.idle)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _too_slow() from None
        except ClientDisconnect:
            raise refused("X-2", "the line broke", "ask for the offset and go on from there", status=400) from None
        size += len(part)
        spent = time.monotonic() - started
        if spent > pace.patience and size < pace.slowest * spent:
            raise _too_slow()
        yield part


def _too_slow() -> RefusedError:
    fix = "ask for the offset and go on from there, on a better line"
    return refused("P-11", "the upload came too slowly", fix, status=408)
