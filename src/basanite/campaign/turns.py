"""Turns at what only a few can do at once: given to each team in rotation, so that no team starves another (X-22).

A party is a team, or the evaluation team of a campaign. One party alone never holds every slot where there are two or
more, and a slot that becomes free goes to the party whose last turn is longest ago. Each process gives its own turns,
for the slots are its own.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, Literal
from weakref import WeakKeyDictionary

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Clock, Office
from basanite.campaign.settings import Reading
from basanite.campaign.store.database import Database

PATIENCE: Final = 30.0
"""Seconds that a call waits for its turn."""
MOST_WAITING: Final = 24
"""Calls of all parties that wait: each holds a thread, and pages need threads too (P-11)."""
Kind = Literal["call", "preview"]
"""Calls of the reading services may take long; previews are short and have slots of their own."""

_turns: WeakKeyDictionary[Database, dict[Kind, Turns]] = WeakKeyDictionary()
_making = threading.Lock()


@contextmanager
def turn(office: Office, party: str, kind: Kind = "call") -> Iterator[None]:
    """Wait for this party's turn and hold a slot; no matter who has too many calls waiting is told to come back."""
    with _making:
        kinds = _turns.setdefault(office.database, {})
        turns = kinds.setdefault(kind, Turns(office.settings.reading, office.clock))
    with turns.one_of(party):
        yield


class _Ticket:
    """A call that waits, or works."""

    def __init__(self, party: str) -> None:
        self.party, self.called, self.working = party, threading.Event(), False


class Turns:
    """Slots, and who waits for one."""

    def __init__(self, limits: Reading, clock: Clock) -> None:
        self.limits, self.clock = limits, clock
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Ticket]] = {}
        self._served: dict[str, int] = {}
        """When each party had its last turn, as a number; there are only so many teams."""

    @contextmanager
    def one_of(self, party: str) -> Iterator[None]:
        """A slot for a party."""
        with self._lock:
            ticket = self._line_up(party)
            self._call_next()
        try:
            ticket.called.wait(PATIENCE)
            if not ticket.working:
                raise self._busy_server()
            yield
        finally:
            with self._lock:
                self._leave(ticket)
                self._call_next()

    def _line_up(self, party: str) -> _Ticket:
        own = len(self._waiting.get(party, ()))
        if own >= self.limits.waiting:
            words = f"too many calls of your team are waiting (at most {own})"
            fix = "wait for their responses before you send more"
            raise refused("X-22", words, fix, status=429, retry_at=self._later())
        if sum(map(len, self._waiting.values())) >= MOST_WAITING:
            self._send_one_away(own)
        ticket = _Ticket(party)
        self._waiting.setdefault(party, deque()).append(ticket)
        return ticket

    def _send_one_away(self, own: int) -> None:
        """The last call of the party that has most waiting makes room, unless the new one's party has as many."""
        longest = max(self._waiting.values(), key=len)
        if len(longest) <= own + 1:
            raise self._busy_server()
        longest.pop().called.set()

    def _call_next(self) -> None:
        """Give free slots to the parties whose last turn is longest ago."""
        most = max(1, self.limits.together - 1)
        while self._busy.total() < self.limits.together:
            ready = [party for party in self._waiting if self._busy[party] < most]
            if not ready:
                return
            party = min(ready, key=lambda one: self._served.get(one, 0))
            ticket = self._waiting[party].popleft()
            self._forget(party)
            self._busy[party] += 1
            self._served[party] = max(self._served.values(), default=0) + 1
            ticket.working = True
            ticket.called.set()

    def _leave(self, ticket: _Ticket) -> None:
        party = ticket.party
        if ticket.working:
            self._busy[party] -= 1
            self._busy += Counter()  # anyone who holds none is forgotten
        elif ticket in self._waiting.get(party, ()):
            self._waiting[party].remove(ticket)
            self._forget(party)

    def _forget(self, party: str) -> None:
        if not self._waiting[party]:
            del self._waiting[party]

    def _busy_server(self) -> RefusedError:
        words, fix = "too many calls are being processed", "try again in a minute"
        return refused("P-11", words, fix, status=503, retry_at=self._later())

    def _later(self) -> datetime:
        """When a slot has become free for sure, whatever the calls that hold them do."""
        return self.clock() + timedelta(seconds=self.limits.seconds)
