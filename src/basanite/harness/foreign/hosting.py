"""The program that a stranger's Python module becomes: it runs inside the box and speaks the protocol (X-5, A26).

What the module has learned is pickled here, inside the box, and unpickled only here. The weights of a learner are also
written as plain arrays, so that the harness can look at them. Files that are opened beside those given are listed
(H-29); a socket is refused before the box has to.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.harness.foreign.exchange import FORMAT
from basanite.harness.modules.catalogue import imported_module
from basanite.harness.modules.interfaces import Module

IN, OUT, STATE = Path("in"), Path("out"), Path("state")
KEPT: Final = STATE / "made.pickle"
LISTED: Final = 1000
SYSTEM: Final = ("/proc/", "/dev/", "/usr/", "/lib", "/etc/localtime", "/tmp/")
SOURCES: Final = frozenset({".py", ".pyc", ".so", ".pyd"})


def main(name: str, words: Sequence[str]) -> None:
    """Carry out one command for the module of this name."""
    opened = watch_opened_files()
    module = imported_module(name)
    opened.clear()
    COMMANDS[words[0]](module, *words[1:])
    OUT.joinpath("opened.txt").write_text("".join(f"{path}\n" for path in undeclared_files(opened)), encoding="utf-8")


def watch_opened_files() -> set[str]:
    """Begin to note every file that is opened, and refuse sockets."""
    opened: set[str] = set()

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            opened.add(os.fsdecode(arguments[0]))
        if event.startswith("socket.") and event != "socket.__new__":
            raise PermissionError("modules have no network")

    sys.addaudithook(hear)
    return opened


def undeclared_files(opened: set[str]) -> list[str]:
    """Files that are neither given nor part of the installation."""
    installed = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[2]), *SYSTEM)
    found = {str(Path(name).absolute()) for name in opened}
    strange = [name for name in found if not name.startswith(installed) and Path(name).suffix not in SOURCES]
    return sorted(name for name in strange if not Path(name).is_relative_to(Path.cwd()))[:LISTED]


def describe(module: Module) -> None:
    """Print what the module says about itself."""
    told = {
        "format": FORMAT, "name": module.name, "role": module.role, "summary": module.summary,
        "version": module.version, "needs": module.needs, "gives": module.gives, "scale": module.scale,
        "formats": ["npy", "jsonl"], "schema": dict(module.schema), "random": module.random, "greedy": module.greedy,
        "declares": dict(module.declares),
    }  # fmt: skip
    print(json.dumps(told))


def fit(module: Module, *, shallow: bool = False) -> None:
    """Train a new one and keep it."""
    told = call()
    made = module.make(told["parameters"], told["seed"])
    made = made.shallow() if shallow else made
    if module.role in ("features", "preprocessor"):
        made.fit(items())
    elif module.role == "learner":
        made.fit(features())
    else:
        made.fit(features(), np.loadtxt(IN / "target.txt", ndmin=1), told["point"])
    KEPT.write_bytes(pickle.dumps(made))
    if module.role == "learner":
        keep_weights(made)


def keep_weights(learner: Any) -> None:
    """Write the weights of every layer as plain arrays."""
    for number, layer in enumerate(learner.states(), start=1):
        folder = STATE / f"layer_{number}"
        folder.mkdir()
        for name, array in layer.items():
            np.save(folder / f"{name}.npy", np.asarray(array), allow_pickle=False)


def transform(module: Module, layer: str) -> None:
    """Write features or codes."""
    made = load_trained()
    found = made.transform(items()) if module.role != "learner" else made.transform(features(), int(layer) or None)
    if hasattr(found, "toarray"):
        found = found.toarray()
    np.save(OUT / "features.npy", np.asarray(found), allow_pickle=False)


def layers(module: Module) -> None:
    """Print how many layers there are."""
    print(int(load_trained().layers))


def grid(module: Module) -> None:
    """Print the parameters to choose from."""
    told = call()
    for point in module.make(told["parameters"], told["seed"]).grid():
        print(json.dumps(dict(point)))


def predict(module: Module) -> None:
    """Write scores."""
    np.save(OUT / "scores.npy", np.asarray(load_trained().score(features()), np.float64), allow_pickle=False)


def call() -> Any:
    """What the call is about."""
    return json.loads((IN / "call.json").read_text(encoding="utf-8"))


def items() -> Any:
    """The items of the call."""
    path = IN / "items.jsonl"
    if path.exists():
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return np.load(IN / "items.npy", allow_pickle=False)


def features() -> Any:
    """The features of the call."""
    return np.load(IN / "features.npy", allow_pickle=False)


def load_trained() -> Any:
    """What was trained, by this very program in an earlier call of the same box."""
    return pickle.loads(KEPT.read_bytes())


COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "describe": describe,
    "fit": fit,
    "shallow": lambda module: fit(module, shallow=True),
    "transform": transform,
    "layers": layers,
    "grid": grid,
    "predict": predict,
}
