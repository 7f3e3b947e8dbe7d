"""The configuration language of annotation: one YAML file a use case, checked before it is used (R-14)."""

from basanite.work.annotation.config.config_file import read_config
from basanite.work.annotation.config.model import (
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
