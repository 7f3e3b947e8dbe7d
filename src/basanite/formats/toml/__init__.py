"""TOML files that people write: where each entry stands, how deep they nest, and entries taken with type and bounds."""
