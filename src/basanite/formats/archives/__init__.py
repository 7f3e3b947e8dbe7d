"""Archives, folders and single files from strangers: read without unpacking, repaired, and written."""
