"""All pages with their states: those of participants, of organisers, and those for everybody."""

from __future__ import annotations

from tests.server.annotating import states as annotating
from tests.server.demo import states as demo
from tests.server.judging import states as judging
from tests.server.pages import states
from tests.server.pages.organiser import states as organiser
from tests.server.pages.public import states as public
from tests.server.panels import states as panels
from tests.server.reading import states as reading

PARTS = (states, organiser, public, panels, reading, judging, annotating, demo)
ALL = {page: state for part in PARTS for page, state in part.ALL.items()}
NAMES = {page: page.template.removesuffix(".html").replace("/", ".") for page in ALL}
"""What tests call a page: its template."""
