"""Gold answers with versions, the answers of machines and people, and how one is scored against the other."""
