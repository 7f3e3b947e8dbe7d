"""Why a statement holds: derivation trees as values, text, pages and RDF."""
