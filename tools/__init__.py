"""What keeps the repository honest: proof of requirements, order in the tree, examples that run. Not installed."""
