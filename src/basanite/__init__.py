"""Basanite runs evaluations of AI systems, from a sealed test set to a report that people can trust.

`score`, `compare`, `power` and `validate` do what the commands of the same names do, and `compare_values` compares
numbers that are there already. They are loaded when first used, so that `import basanite` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from basanite.moved import find_moved

if TYPE_CHECKING:
    from basanite.functions import compare, compare_values, power, score, validate

__version__ = "0.1.0"
__all__ = ["__version__", "compare", "compare_values", "power", "score", "validate"]


find_moved()


def __getattr__(name: str) -> Any:
    if name in ("compare", "compare_values", "power", "score", "validate"):
        return getattr(import_module("basanite.functions"), name)
    raise AttributeError(f"module 'basanite' has no attribute {name!r}")
