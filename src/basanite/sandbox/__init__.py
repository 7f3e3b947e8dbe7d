"""A box for strangers' programs: own inputs only, no network, no other process, no environment, hard limits (X-5)."""
