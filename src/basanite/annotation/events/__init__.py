"""Every change of an annotation is an event; what there is follows from all events, in the server's order (R-15)."""

from basanite.annotation.events.checking import Received, check, event_of, receive
from basanite.annotation.events.model import EVENT_KINDS, Event, Mention, Object, State, single_id
from basanite.annotation.events.replaying import replay

__all__ = [
    "EVENT_KINDS",
    "Event",
    "Mention",
    "Object",
    "Received",
    "State",
    "check",
    "event_of",
    "receive",
    "replay",
    "single_id",
]
