"""The work of a run, as pure functions that the engine keeps: preprocess, learn, classify, score."""
