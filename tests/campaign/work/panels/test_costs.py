"""What a judge's click costs does not grow with the panel, so that a thousand can work at once."""

from contextlib import contextmanager

import pytest
from sqlalchemy import event
from tests.campaign.work.panels.conftest import pairs, verdict_scheme

MOST = {"desk": 6, "answer": 12}
"""Statements of a transaction, its beginning included."""


@contextmanager
def counted(engine):
    """The statements that are sent to the database in the block."""
    sent = []

    def note(connection, cursor, statement, *rest):
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize(("judges", "items"), [(2, 4), (6, 30)], ids=["small", "larger"])
def test_looking_at_the_desk_and_answering_take_few_statements_on_any_panel(bench, judges, items):
    names = [f"judge{number}" for number in range(judges)]
    panel = bench.panel(verdict_scheme(), pairs(items), names)
    bench.begin(panel, names[0])
    bench.say(panel, names[0], {"verdict": "R"})
    with counted(bench.office.database.engine) as looked:
        bench.desk(panel, names[0])
    with counted(bench.office.database.engine) as said:
        bench.say(panel, names[0], {"verdict": "R"})
    assert len(looked) <= MOST["desk"], looked
    assert len(said) - len(looked) <= MOST["answer"], "the desk is looked at once more before it is answered"
