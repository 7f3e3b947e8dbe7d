"""All pairs of rows in one tiled sweep, and the measures that rest on it."""
