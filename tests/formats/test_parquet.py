"""What a Parquet file would take is known before it is read, whatever its headers claim."""

from __future__ import annotations

import io

import polars as pl
import pytest

from basanite.formats.parquet import CELL, DEPTH, ExpansionError, expanded_size, read_parquet

INTEGER, BYTES, LIST, STRUCT = 6, 8, 9, 12
HUGE = 2**40


def unsigned(value):
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def kind_of(value):
    return {int: INTEGER, bytes: BYTES, list: LIST, dict: STRUCT}[type(value)]


def thrift(value):
    """A value as the compact protocol writes it; structs are dictionaries by field numbers."""
    if isinstance(value, int):
        return unsigned(value << 1 ^ value >> 63)
    if isinstance(value, bytes):
        return unsigned(len(value)) + value
    if isinstance(value, list):
        inside = kind_of(value[0]) if value else STRUCT
        return bytes([0xF0 | inside]) + unsigned(len(value)) + b"".join(map(thrift, value))
    fields = (bytes([kind_of(each)]) + thrift(number) + thrift(each) for number, each in value.items())
    return b"".join(fields) + b"\0"


def file(*, page=None, rows=1, values=1, schema=None):
    """A file with one column of one page, whose headers say what they are told to say."""
    head = thrift(page if page is not None else {1: 0, 2: 8, 3: 0, 5: {1: 1, 2: 0}})
    chunk = {3: {1: 1, 3: [b"a"], 4: 0, 5: values, 6: 8, 7: len(head), 9: 4}}
    schema = schema or [{4: b"root", 5: 1}, {1: 1, 4: b"a"}]
    footer = thrift({1: 1, 2: schema, 3: rows, 4: [{1: [chunk], 2: 8, 3: rows}]})
    return b"PAR1" + head + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def test_values_are_counted_by_pages_whatever_the_totals_say():
    assert expanded_size(file()) == 8 + CELL
    assert expanded_size(file(page={1: 0, 2: 8, 3: 0, 5: {1: 1000, 2: 0}})) == 8 + 1000 * CELL
    assert expanded_size(file(page={1: 3, 2: 8, 3: 0, 8: {1: 1000, 4: 0}})) == 8 + 1000 * CELL
    assert expanded_size(file(page={1: 0, 2: HUGE, 3: 0, 5: {1: 1, 2: 0}})) > HUGE


@pytest.mark.parametrize("claim", [{"rows": HUGE}, {"values": HUGE}])
def test_totals_count_too_for_room_may_be_made_by_them(claim):
    with pytest.raises(ExpansionError, match="would become more than 64 MiB"):
        read_parquet(file(**claim))


def test_texts_that_grow_out_of_each_other_are_refused():
    for page in ({1: 0, 2: 8, 3: 0, 5: {1: 1, 2: 7}}, {1: 3, 2: 8, 3: 0, 8: {1: 1, 4: 7}}):
        with pytest.raises(ExpansionError, match="front coded"):
            expanded_size(file(page=page))


def test_columns_in_columns_without_end_are_refused():
    schema = [{4: b"a", 5: 1}] * (DEPTH + 1) + [{1: 1, 4: b"a"}]
    with pytest.raises(ExpansionError, match="nested more than"):
        expanded_size(file(schema=schema))


@pytest.mark.parametrize("cut", [0, 4, 12, -1, -9])
def test_what_is_cut_off_is_no_file(cut):
    with pytest.raises(ValueError, match=r"footer|headers"):
        expanded_size(file()[:cut])


def test_headers_without_end_are_not_all_read():
    footer = thrift({2: [{}] * 1_100_000})
    with pytest.raises(ExpansionError, match="too many"):
        expanded_size(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def test_ordinary_tables_are_read_as_they_are():
    table = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": [[1], [2, 3]], "d": [{"e": "f"}, None]})
    table = table.with_columns(pl.col("b").cast(pl.Categorical).alias("g"), pl.lit(b"z").alias("h"))
    out = io.BytesIO()
    table.write_parquet(out)
    assert read_parquet(out.getvalue()).equals(table)
    table.head(0).write_parquet(empty := io.BytesIO())
    assert read_parquet(empty.getvalue()).equals(table.head(0))
