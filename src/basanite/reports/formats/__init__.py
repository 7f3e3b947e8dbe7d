"""The outputs of a report: each module writes the one model as one kind of file."""
