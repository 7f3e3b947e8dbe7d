"""What is fixed before and during an evaluation: code, parameters, papers, trained systems, bundles and sets."""
