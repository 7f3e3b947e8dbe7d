"""Archives and folders from strangers: read without unpacking, side by side, repaired and written; their names."""
