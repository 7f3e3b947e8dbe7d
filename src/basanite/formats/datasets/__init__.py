"""Released data sets and build packs: their trees, names, documents, domains and usage rules."""
