"""The shift experiment: new classes are mixed in step by step, and every measure gives a curve."""
