"""Sizes and seeds of more than 32 bits: SQLite keeps any number, PostgreSQL only what its column is wide enough for."""

from sqlalchemy import BigInteger, select

from basanite.campaign.store.tables import AnnotationProject, Base, PackFile

WIDE = {"size", "offset", "seed"}


def test_a_pack_of_many_gigabytes_and_the_largest_seed_are_kept(office, small):
    now, of = office.clock(), {"campaign_id": small.campaign_id, "digest": "0" * 64}
    project = AnnotationProject(**of, name="a", title="A", files={}, seed=2**32 - 1, made=now, by=small.eva)
    with office.writing() as session:
        session.add(PackFile(**of, pack="EVAL1", name="a.tgz", size=5 * 2**30, added=now, added_by=small.eva))
        session.add(project)
    with office.reading() as session:
        assert session.scalars(select(PackFile.size)).one() == 5 * 2**30
        assert session.scalars(select(AnnotationProject.seed)).one() == 2**32 - 1


def test_every_size_offset_and_seed_is_wide_enough():
    columns = [column for table in Base.metadata.sorted_tables for column in table.columns]
    numbers = [column for column in columns if column.name in WIDE and column.type.python_type is int]
    assert len(numbers) > 3
    assert [str(column) for column in numbers if not isinstance(column.type, BigInteger)] == []
