"""The steps of a plan: their graph, the store of what they gave, and the work of each (H-19)."""
