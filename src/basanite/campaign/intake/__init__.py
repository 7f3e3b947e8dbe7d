"""How a file becomes a submission: the same way whatever the door, with one queue and one count (M79, C25)."""
