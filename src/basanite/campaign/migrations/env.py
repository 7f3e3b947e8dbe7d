"""How Alembic runs here: on the connection that `store.schema` holds, in its transaction."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from basanite.campaign.store.schema import options
from basanite.campaign.store.tables import Moment


def render(kind: str, thing: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Moments are plain times in the database; versions do not depend on our classes."""
    return "sa.DateTime()" if kind == "type" and isinstance(thing, Moment) else False


connection = context.config.attributes["connection"]
context.configure(connection=connection, render_item=render, **options(connection))
context.run_migrations()
