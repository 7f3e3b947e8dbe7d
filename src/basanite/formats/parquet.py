"""What Polars raises over a Parquet file of a stranger: errors of its own, and panics, which no `Exception` covers."""

from __future__ import annotations


def parquet_faults() -> tuple[type[BaseException], ...]:
    """All of it, to be caught together; a damaged file makes some of its decoders panic (X-8)."""
    from polars import exceptions  # here, because it is slow to load and most files are text

    return exceptions.PolarsError, exceptions.PanicException, OSError, ValueError, OverflowError, MemoryError
