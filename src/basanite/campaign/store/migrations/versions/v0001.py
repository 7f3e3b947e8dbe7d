"""The first schema: what stands in the SQL file of the database in use."""

from pathlib import Path

from alembic import op
from sqlalchemy import Connection, inspect

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables, indexes and guards."""
    connection = op.get_bind()
    for statement in _sql(connection).strip().split("\n\n"):
        connection.exec_driver_sql(statement.replace("%", "%%") if connection.dialect.name != "sqlite" else statement)


def downgrade() -> None:
    """Remove them; tables of others stay."""
    connection = op.get_bind()
    lines = _sql(connection).splitlines()
    ours = [line.split()[2].strip('"') for line in lines if line.startswith("CREATE TABLE ")]
    there = set(inspect(connection).get_table_names())
    for name in (name for name in reversed(ours) if name in there):
        op.drop_table(name)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("DROP FUNCTION IF EXISTS basanite_refuse()")


def _sql(connection: Connection) -> str:
    return Path(__file__).with_name(f"v0001.{connection.dialect.name}.sql").read_text(encoding="utf-8")
