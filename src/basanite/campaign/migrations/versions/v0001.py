"""The first schema: the tables of the program, as long as no release is tagged (ADR 24).

The first tagged release freezes it: what `create_all` sends here is then written out, and later versions alter that.
"""

from alembic import op

from basanite.campaign.store.tables import Base

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables, indexes and guards."""
    Base.metadata.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Remove them; tables of others stay."""
    connection = op.get_bind()
    Base.metadata.drop_all(connection)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("DROP FUNCTION IF EXISTS basanite_refuse()")
