"""All pages with their states: those of participants, of organisers, and those for everybody."""

from __future__ import annotations

from tests.server.pages import states
from tests.server.pages.organiser import states as organiser
from tests.server.pages.public import states as public

ALL = {**states.ALL, **organiser.ALL, **public.ALL}
