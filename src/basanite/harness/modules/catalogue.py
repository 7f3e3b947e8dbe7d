"""From the name in a plan to the module: a registered one, or `package.module:NAME` where Python can import it."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

import basanite
from basanite import registry
from basanite.errors import MissingExtraError, UnknownNameError
from basanite.extras import error_of_extra
from basanite.harness.foreign.modules import foreign_digest, foreign_module, is_foreign
from basanite.harness.foreign.programs import surroundings, tree_digest
from basanite.harness.modules.adapters import adapt
from basanite.harness.modules.interfaces import Form, Module
from basanite.harness.modules.weights import is_weights, weights_digest, weights_module
from basanite.representation.extraction.model_folder import open_model

OURS: Final = Path(basanite.__file__).parent
FITS: Final[dict[Form, tuple[Form, ...]]] = {
    "items": ("items",),
    "counts": ("counts",),
    "nonneg": ("nonneg", "counts", "histograms"),
    "dense": ("dense", "nonneg", "counts", "sequence", "histograms"),
    "sequence": ("sequence", "histograms"),
    "histograms": ("histograms",),
    "any": ("items", "counts", "nonneg", "dense", "sequence", "histograms"),
}
"""What a module that needs a form can take: counts are never negative, and all of them are numbers (A17). The windows
of an item are rows for a learner, and summed for a classifier that does not ask for them (A29)."""


def find_module(name: str) -> Module:
    """The module of a name; a program, or a stranger's module that must run in a box, comes as its adapter (X-5)."""
    around = surroundings()
    if is_weights(name):
        return weights_module(name, around)
    return foreign_module(name, around) if is_foreign(name, around) else imported_module(name)


def imported_module(name: str) -> Module:
    """The Python module of a name, in this process; an unknown one is answered with the nearest."""
    found = _import_attribute(name) if ":" in name else _load_registered(name)
    if isinstance(found, Module):
        return found
    if ":" in name:
        return adapt(found, name)  # an estimator or a function, for plans of one's own
    raise UnknownNameError(f"{name!r} is not a harness module but a {type(found).__name__}.")


@cache
def _load_registered(name: str) -> object:
    """Remembered, for a plan asks for each module hundreds of times, and looking through all packages takes a while."""
    return registry.load("modules", name)


def _import_attribute(name: str) -> object:
    place, _, attribute = name.partition(":")
    try:
        return getattr(import_module(place), attribute)
    except ModuleNotFoundError as missing:
        own = MissingExtraError(f"{name!r} cannot be imported: there is no module {missing.name!r}.")
        raise error_of_extra(missing) or own from missing
    except (ImportError, AttributeError, ValueError) as fault:
        raise MissingExtraError(f"{name!r} cannot be loaded: {fault}.") from fault


def mismatch(needing: Module, giving: Form) -> str:
    """Why a module cannot take a form; "" if it can (A17).

    >>> from basanite.harness.modules.interfaces import Module
    >>> mismatch(Module("lda", "strong", "", None, needs="counts"), "dense")
    'lda needs counts and gets dense'
    """
    return "" if giving in FITS[needing.needs] else f"{needing.name} needs {needing.needs} and gets {giving}"


def code_digest(name: str) -> str:
    """The hash of a module's source files, so that a changed module is never taken for the old one (H-19)."""
    around = surroundings()
    if is_weights(name):
        return f"{weights_digest(name, around)} {_extraction_digest()} {find_module(name).version}"
    return foreign_digest(name, around) if is_foreign(name, around) else _source_digest(name)


@cache
def _extraction_digest() -> str:
    """The hash of our own code that runs models from weights."""
    return tree_digest(Path(inspect.getsourcefile(open_model) or __file__).parent)


@cache
def _source_digest(name: str) -> str:
    module = imported_module(name)
    digest = hashlib.sha256(module.version.encode())
    for path in _sources(module):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()}"


def _sources(module: Module) -> list[Path]:
    """The files that a module names, or else the one that makes it; of ours all, since they build on each other."""
    files = list(map(Path, module.code)) or [Path(inspect.getsourcefile(inspect.unwrap(module.make)) or __file__)]
    ours = [path for file in files if OURS in file.parents for path in file.parent.glob("*.py")]
    return sorted({*files, *ours})
