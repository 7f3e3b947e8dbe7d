"""Programs as modules of a plan: a preprocessor, a learner or a classifier whose every call is a fresh process.

A program gets rows without ids, in an order that tells nothing (A26); labels of training rows reach a classifier's
`fit` only. Its state is a folder that is read-only outside `fit`. Codes and scores are made again for some rows by
other processes, permuted and in other parts: who gives other numbers then has learned during the test (A27).
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.data.dataset import Texts
from basanite.harness.foreign.calling import Call, OutOfTimeError, answered
from basanite.harness.foreign.description import Description
from basanite.harness.foreign.exchange import (
    hidden_order,
    read_array,
    read_matrix,
    read_numbers,
    write_items,
    write_matrix,
    write_numbers,
)
from basanite.harness.foreign.layers import layer_faults
from basanite.harness.foreign.programs import Program, tree_digest
from basanite.harness.foreign.surroundings import Surroundings
from basanite.harness.modules.interfaces import Parameters
from basanite.harness.sandbox.box import Limits
from basanite.harness.steps.layout import ModuleError

CHECKED_ROWS: Final = 64
LAYER_ROWS: Final = 32
TOLERANCE: Final = 1e-4
TRAINED_BY_TEAM: Final = "trained by team"


@dataclass(frozen=True)
class System:
    """A program with what it says of itself, and a state that its team trained, if it brought one (H-28)."""

    program: Program
    described: Description
    around: Surroundings
    trained: Path | None = None
    always: bool = False
    """Whether the trained state is used without trying to train."""

    def made(self, parameters: Parameters, seed: int) -> Any:
        """An untrained one, as the role wants it."""
        kind = {"learner": ForeignLearner, "linear": ForeignClassifier, "strong": ForeignClassifier}
        return kind.get(self.described.role, ForeignPreprocessor)(self, parameters, seed)


class _Foreign:
    """What all roles share: the state, and calls about it."""

    def __init__(self, system: System, parameters: Parameters, seed: int) -> None:
        self.system, self.parameters, self.seed = system, dict(parameters), seed
        held = tempfile.mkdtemp(prefix="basanite-state-")
        weakref.finalize(self, shutil.rmtree, held, ignore_errors=True)
        self.state = Path(held) / "state"
        self.marks: tuple[str, ...] = ()
        self.opened: set[str] = set()
        self._empty()

    def _empty(self) -> None:
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()
        for folder in (self.state.parent, self.state):
            folder.chmod(0o755)

    def _told(self, **more: Any) -> dict[str, Any]:
        return {"role": self.system.described.role, "seed": self.seed, "parameters": self.parameters, **more}

    def _call(self, *words: str) -> Call:
        return Call(self.system.program, words, self.system.around)

    def _learn(self, command: str, given: Any, write: Callable[[Call, Any], None], **told: Any) -> None:
        """Train, or take over what the team trained: always, or when training has taken too long (H-28)."""
        self._empty()
        try:
            if not (self.system.always and self.system.trained):
                self._trained_here(command, given, write, told)
                return
        except OutOfTimeError:
            if self.system.trained is None:
                raise
        shutil.rmtree(self.state)
        shutil.copytree(self.system.trained or Path(), self.state, symlinks=True)
        self.state.chmod(0o755)
        self.marks = (TRAINED_BY_TEAM,)

    def _trained_here(
        self, command: str, rows: Any, write: Callable[[Call, Any], None], told: Mapping[str, Any]
    ) -> None:
        with self._call(command) as call:
            write(call, rows)
            call.run(self.state, self._told(**told), learns=True, limits=self._limits())
            self._note(call)

    def _limits(self) -> Limits:
        """Training has a time limit of its own, if the plan sets one."""
        plain, seconds = self.system.around.limits, self.system.around.training_seconds
        return plain if seconds is None else replace(plain, seconds=seconds)

    def _note(self, call: Call) -> None:
        """Remember which files a hosted module opened beside those given (H-29)."""
        path = call.out / "opened.txt"
        if path.is_file() and not path.is_symlink():
            self.opened |= set(path.read_text(encoding="utf-8", errors="replace").splitlines())

    def _asked(self, command: str) -> list[Any]:
        with self._call(command) as call:
            return answered(call.maker, call.run(self.state, self._told()).stdout)

    def _coded(self, rows: Any, once: Callable[[Any], Any], salt: int) -> Any:
        """Rows through a program in an order that tells nothing, and the answers in ours."""
        order = hidden_order(rows, salt)
        found = once(_taken(rows, order))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return found[back]

    def _check(self, rows: Any, found: Any, once: Callable[[Any], Any]) -> None:
        """Some rows again by another fresh process, without their neighbours and in another order (A27, X-5)."""
        some = np.arange(0, min(_height(rows), CHECKED_ROWS), 2)
        again, before = _dense(self._coded(_taken(rows, some), once, len(some))), _dense(found[some])
        size = max(1.0, float(np.abs(before).max(initial=0)))
        if again.shape != before.shape or np.abs(again - before).max(initial=0) > TOLERANCE * size:
            raise ModuleError(
                f"{self.system.program.name} gives other numbers to the same rows when they come in other parts: "
                "nothing may learn during the test"
            )


class ForeignPreprocessor(_Foreign):
    """A program that turns items into features."""

    checked = False

    def fit(self, items: Sequence[Any]) -> None:
        """Have it learn from items without labels."""
        self.checked = False
        held = _plain(items)
        self._learn("fit", _taken(held, hidden_order(held, 0)), self._write, rows=_height(held))

    def transform(self, items: Sequence[Any]) -> Any:
        """The features of some items."""
        held = _plain(items)
        found = self._coded(held, self._once, _height(held))
        if not self.checked:
            self._check(held, found, self._once)
            self.checked = True
        return found

    def _write(self, call: Call, items: Any) -> None:
        write_items(call.given, items, self.system.described.formats)

    def _once(self, items: Any) -> Any:
        with self._call("transform", "0") as call:
            self._write(call, items)
            call.run(self.state, self._told(rows=_height(items), layer=0))
            self._note(call)
            return read_matrix(call.out, "features", _height(items), call.maker)


class ForeignLearner(_Foreign):
    """A program that learns a representation; `layers` is asked after training and looked at, not believed (H-10)."""

    checks_layers = True
    """When it has learned, so that nobody has to run the program again for it."""

    def __init__(self, system: System, parameters: Parameters, seed: int, mode: str = "fit") -> None:
        super().__init__(system, parameters, seed)
        self.mode, self.layers, self.checked = mode, 1, False

    def shallow(self) -> ForeignLearner:
        """The same system in its one-layer mode, untrained."""
        own = self.system.trained.parent / "shallow" if self.system.trained else None
        system = replace(self.system, trained=own if own and own.is_dir() else None)
        return ForeignLearner(system, self.parameters, self.seed, "shallow")

    def fit(self, features: Any) -> None:
        """Have it learn from features without labels."""
        self.checked = False
        self._learn(self.mode, _taken(features, hidden_order(features, 0)), self._write, rows=features.shape[0])
        told = self._asked("layers")
        if len(told) != 1 or type(told[0]) is not int or not 1 <= told[0] <= 1000:
            raise ModuleError(f"{self.system.program.name} layers must print the number of its layers")
        self.layers = told[0]
        wrong = layer_faults(self, features[:LAYER_ROWS]) if self.mode == "fit" else self._one_layer()
        if wrong:
            raise ModuleError(f"{self.system.program.name}: {'; '.join(wrong)} (H-10)")

    def _one_layer(self) -> list[str]:
        return [] if self.layers == 1 else [f"its one-layer mode has {self.layers} layers"]

    def transform(self, features: Any, layer: int | None = None) -> Any:
        """The codes of a layer."""
        found = self._coded(features, lambda rows: self._once(rows, layer or 0), features.shape[0])
        if layer is None and not self.checked:
            self._check(features, found, lambda rows: self._once(rows, 0))
            self.checked = True
        return found

    def _write(self, call: Call, features: Any) -> None:
        write_matrix(call.given, "features", features, self.system.described.formats)

    def _once(self, features: Any, layer: int) -> Any:
        with self._call("transform", str(layer)) as call:
            self._write(call, features)
            call.run(self.state, self._told(rows=features.shape[0], columns=features.shape[1], layer=layer))
            return read_matrix(call.out, "features", features.shape[0], call.maker)

    def states(self) -> list[dict[str, NDArray[Any]]]:
        """The weights of every layer: the files in `layer_1`, `layer_2` … of its state."""
        return [
            {path.name: _weights(path, self.system.program.name) for path in sorted(folder.iterdir()) if path.is_file()}
            for folder in self._layer_folders()
        ]

    def _layer_folders(self) -> Iterator[Path]:
        number = 1
        while (folder := self.state / f"layer_{number}").is_dir():
            yield folder
            number += 1

    def state_digest(self) -> str:
        """The hash of everything in the state."""
        return tree_digest(self.state)


class ForeignClassifier(_Foreign):
    """A program that learns one target from one fold."""

    def __init__(self, system: System, parameters: Parameters, seed: int) -> None:
        super().__init__(system, parameters, seed)
        self.points: list[Parameters] | None = None
        self.checked = False

    def grid(self) -> Sequence[Parameters]:
        """The parameters that it wants to choose from, one JSON object a line."""
        if self.points is None:
            found = self._asked("grid")
            if not all(isinstance(point, dict) for point in found):
                raise ModuleError(f"{self.system.program.name} grid must print one JSON object a line")
            self.points = found
        return self.points

    def fit(self, features: Any, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold with its values."""
        order = hidden_order(features, 0)
        self.checked = False

        def write(call: Call, rows: Any) -> None:
            write_matrix(call.given, "features", rows, self.system.described.formats)
            write_numbers(call.given / "target.txt", target[order])

        shape = {"rows": features.shape[0], "columns": features.shape[1]}
        self._learn("fit", _taken(features, order), write, point=dict(parameters), **shape)

    def score(self, features: Any) -> NDArray[np.float64]:
        """A score for every row."""
        found: NDArray[np.float64] = self._coded(features, self._once, features.shape[0])
        if not self.checked:
            self._check(features, found, self._once)
            self.checked = True
        return found

    def _once(self, features: Any) -> NDArray[np.float64]:
        with self._call("predict") as call:
            write_matrix(call.given, "features", features, self.system.described.formats)
            call.run(self.state, self._told(rows=features.shape[0], columns=features.shape[1]))
            return read_numbers(call.out, "scores", features.shape[0], call.maker)


def _plain(items: Any) -> Any:
    """Items as a list of texts or an array of rows."""
    if isinstance(items, Texts):
        return items.take(np.arange(len(items)))
    return items if isinstance(items, list) or scipy.sparse.issparse(items) else np.asarray(items)


def _taken(rows: Any, places: NDArray[np.int64]) -> Any:
    return [rows[at] for at in places] if isinstance(rows, list) else rows[places]


def _height(rows: Any) -> int:
    return len(rows) if isinstance(rows, list) else int(rows.shape[0])


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix, np.float64)


def _weights(path: Path, maker: str) -> NDArray[Any]:
    """The numbers in a file of weights, or its bytes where it holds something else; never unpickled (X-5)."""
    if path.suffix == ".npy":
        return read_array(path, maker)
    return np.frombuffer(path.read_bytes(), np.uint8)
