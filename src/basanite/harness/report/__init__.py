"""The report of an evaluation: claims, conditions, data, protocol, graphs, rankings, verdicts, and its states."""
