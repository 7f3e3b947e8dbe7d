"""The configuration language of annotation: one YAML file a use case, checked before it is used (R-14)."""

from basanite.annotation.config.model import (
    Category,
    Choice,
    Config,
    Field,
    Layout,
    Migration,
    Mint,
    Say,
    Source,
    Template,
    When,
)
from basanite.annotation.config.reading import read_config

__all__ = [
    "Category",
    "Choice",
    "Config",
    "Field",
    "Layout",
    "Migration",
    "Mint",
    "Say",
    "Source",
    "Template",
    "When",
    "read_config",
]
