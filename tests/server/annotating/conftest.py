"""One browser, one server and one season for all tests of a module; each test has texts of its own."""

from __future__ import annotations

import pytest
from tests.server.annotating.staging import staged


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = staged(tmp_path_factory.mktemp("stage"))
    with made.serving():
        yield made
    made.office.close()


@pytest.fixture
def visit(chrome, stage):
    """A tab of somebody who is signed in, in a browser of their own: `visit("nora")`."""
    contexts = []

    def opened(who, **options):
        contexts.append(chrome.new_context(viewport={"width": 1400, "height": 900}, **options))
        return stage.signed_in(contexts[-1], who)

    yield opened
    for one in contexts:
        one.close()
