"""Bytes to columnar tables and back, with problems on the way."""
