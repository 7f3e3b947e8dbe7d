"""Personal data: access, erasure, retention, and the little that is kept about network addresses (P-21)."""
