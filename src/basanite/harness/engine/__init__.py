"""A graph of pure steps, each committed under the key of what it was made from: no work is done twice (H-19)."""
