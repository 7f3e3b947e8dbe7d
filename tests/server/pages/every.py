"""All pages with their states: those of participants, of organisers, and those for everybody."""

from __future__ import annotations

from tests.server.annotating import states as annotating
from tests.server.judging import states as judging
from tests.server.pages import states
from tests.server.pages.organiser import states as organiser
from tests.server.pages.public import states as public
from tests.server.panels import states as panels
from tests.server.reading import states as reading

ALL = {**states.ALL, **organiser.ALL, **public.ALL, **panels.ALL, **reading.ALL, **judging.ALL, **annotating.ALL}
