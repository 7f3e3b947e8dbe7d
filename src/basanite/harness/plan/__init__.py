"""The plan of an evaluation, a TOML file: read, checked with the place of every problem, and brought to one form."""
