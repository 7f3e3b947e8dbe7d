"""Programs, and strangers' Python modules, as modules of a plan: every call is a fresh process.

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

from basanite import registry
from basanite.harness.data.dataset import Texts
from basanite.harness.foreign.exchange import (
    Description,
    hidden_order,
    layer_faults,
    parse_description,
    read_array,
    read_matrix,
    read_numbers,
    write_items,
    write_matrix,
    write_numbers,
)
from basanite.harness.foreign.programs import (
    TRAINED,
    Call,
    OutOfTimeError,
    Program,
    Surroundings,
    environment_digest,
    found_program,
    hosted_program,
    is_program,
    parse_answer,
    tree_digest,
)
from basanite.harness.modules.interfaces import Form, Module, Parameters
from basanite.harness.steps.layout import ModuleError
from basanite.sandbox.box import Limits

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

    def make(self, parameters: Parameters, seed: int) -> Any:
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

    def _request(self, **more: Any) -> dict[str, Any]:
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
            call.run(self.state, self._request(**told), learns=True, limits=self._limits())
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

    def _ask(self, command: str) -> list[Any]:
        with self._call(command) as call:
            return parse_answer(call.maker, call.run(self.state, self._request()).stdout)

    def _transform_in_hidden_order(self, rows: Any, once: Callable[[Any], Any], salt: int) -> Any:
        """Rows through a program in an order that tells nothing, and the answers in ours."""
        order = hidden_order(rows, salt)
        found = once(_rows_at(rows, order))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return found[back]

    def _check(self, rows: Any, found: Any, once: Callable[[Any], Any]) -> None:
        """Some rows again by another fresh process, without their neighbours and in another order (A27, X-5)."""
        some = np.arange(0, min(_height(rows), CHECKED_ROWS), 2)
        again, before = (
            _dense(self._transform_in_hidden_order(_rows_at(rows, some), once, len(some))),
            _dense(found[some]),
        )
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
        self._learn("fit", _rows_at(held, hidden_order(held, 0)), self._write, rows=_height(held))

    def transform(self, items: Sequence[Any]) -> Any:
        """The features of some items."""
        held = _plain(items)
        found = self._transform_in_hidden_order(held, self._once, _height(held))
        if not self.checked:
            self._check(held, found, self._once)
            self.checked = True
        return found

    def _write(self, call: Call, items: Any) -> None:
        write_items(call.given, items, self.system.described.formats)

    def _once(self, items: Any) -> Any:
        with self._call("transform", "0") as call:
            self._write(call, items)
            call.run(self.state, self._request(rows=_height(items), layer=0))
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
        self._learn(self.mode, _rows_at(features, hidden_order(features, 0)), self._write, rows=features.shape[0])
        told = self._ask("layers")
        if len(told) != 1 or type(told[0]) is not int or not 1 <= told[0] <= 1000:
            raise ModuleError(f"{self.system.program.name} layers must print the number of its layers")
        self.layers = told[0]
        if self.mode == "fit":
            wrong = layer_faults(self, features[:LAYER_ROWS])
        else:
            wrong = [] if self.layers == 1 else [f"its one-layer mode has {self.layers} layers"]
        if wrong:
            raise ModuleError(f"{self.system.program.name}: {'; '.join(wrong)} (H-10)")

    def transform(self, features: Any, layer: int | None = None) -> Any:
        """The codes of a layer."""
        found = self._transform_in_hidden_order(features, lambda rows: self._once(rows, layer or 0), features.shape[0])
        if layer is None and not self.checked:
            self._check(features, found, lambda rows: self._once(rows, 0))
            self.checked = True
        return found

    def _write(self, call: Call, features: Any) -> None:
        write_matrix(call.given, "features", features, self.system.described.formats)

    def _once(self, features: Any, layer: int) -> Any:
        with self._call("transform", str(layer)) as call:
            self._write(call, features)
            call.run(self.state, self._request(rows=features.shape[0], columns=features.shape[1], layer=layer))
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
        """The parameters that it wants to choose from, one JSON object per line."""
        if self.points is None:
            found = self._ask("grid")
            if not all(isinstance(point, dict) for point in found):
                raise ModuleError(f"{self.system.program.name} grid must print one JSON object per line")
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
        self._learn("fit", _rows_at(features, order), write, point=dict(parameters), **shape)

    def score(self, features: Any) -> NDArray[np.float64]:
        """A score for every row."""
        found: NDArray[np.float64] = self._transform_in_hidden_order(features, self._once, features.shape[0])
        if not self.checked:
            self._check(features, found, self._once)
            self.checked = True
        return found

    def _once(self, features: Any) -> NDArray[np.float64]:
        with self._call("predict") as call:
            write_matrix(call.given, "features", features, self.system.described.formats)
            call.run(self.state, self._request(rows=features.shape[0], columns=features.shape[1]))
            return read_numbers(call.out, "scores", features.shape[0], call.maker)


def _plain(items: Any) -> Any:
    """Items as a list of texts or an array of rows."""
    if isinstance(items, Texts):
        return items.take(np.arange(len(items)))
    return items if isinstance(items, list) or scipy.sparse.issparse(items) else np.asarray(items)


def _rows_at(rows: Any, places: NDArray[np.int64]) -> Any:
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


OURS: Final = "basanite"
NEEDS: Final[dict[str, Form]] = {"features": "items", "preprocessor": "items"}
_described: dict[tuple[str, str, bool], Description] = {}
"""What programs said about themselves, by name, code and whether they were boxed: each is asked once in a process."""


def module_target(name: str) -> str:
    """Where a Python module is written: the name itself, or what its entry point names."""
    if ":" in name:
        return name
    found = [plugin.target for plugin in registry.plugins() if plugin.group == "modules" and plugin.name == name]
    return found[0] if found else ""


def is_foreign(name: str, around: Surroundings) -> bool:
    """Whether a module must run as a program: it is one, or it is a stranger's and these must run in a box."""
    if is_program(name) or not around.hosts:
        return is_program(name)
    target = module_target(name)
    return bool(target) and target.partition(".")[0].partition(":")[0] != OURS


def foreign_module(name: str, around: Surroundings) -> Module:
    """The module of a foreign name; it is asked to describe itself."""
    system = foreign_system(name, around)
    told = system.described
    return Module(
        name=told.name,
        role=told.role,
        summary=told.summary,
        make=system.make,
        needs=told.needs or NEEDS.get(told.role, "dense"),
        gives=told.gives,
        scale=told.scale,
        schema=told.schema,
        version=told.version,
        greedy=told.greedy,
        random=told.random,
        declares=told.declares,
    )


def foreign_system(name: str, around: Surroundings) -> System:
    """The program behind a name, with what it says of itself and a trained state, if the name brings one."""
    kind = next((kind for kind in TRAINED if name.startswith(kind)), "")
    if kind:
        folder, _, inner = name.removeprefix(kind).partition(":")
        state = around.folder / folder / "state"
        return replace(foreign_system(inner, around), trained=state, always=kind == TRAINED[0])
    program = program_of(name, around)
    told = _ask_description(program, around)
    return System(replace(program, reads=(*program.reads, *declared_files(told, around))), told, around)


def declared_files(told: Description, around: Surroundings) -> tuple[Path, ...]:
    """Files beside its own that a module says it reads, seen from the plan; they are shown to it read-only (H-29)."""
    files = told.declares.get("files", [])
    named = files if isinstance(files, list) else []
    return tuple((around.folder / path).resolve() for path in named if isinstance(path, str))


def program_of(name: str, around: Surroundings) -> Program:
    """The program of a name: a team's own, or our host of a Python module."""
    return found_program(name, around) if is_program(name) else hosted_program(module_target(name))


def foreign_digest(name: str, around: Surroundings) -> str:
    """The hash of all that a foreign module brings: its folder, or its Python package, and a trained state."""
    if name not in around.digests:
        around.digests[name] = _digest(name, around)
    return around.digests[name]


def _digest(name: str, around: Surroundings) -> str:
    kind = next((kind for kind in TRAINED if name.startswith(kind)), "")
    if kind:
        folder, _, inner = name.removeprefix(kind).partition(":")
        return f"{foreign_digest(inner, around)} {kind}{tree_digest(around.folder / folder)}"
    program = program_of(name, around)
    if is_program(name):
        return program.digest()
    return tree_digest(program.package) if program.package else environment_digest()


def _ask_description(program: Program, around: Surroundings) -> Description:
    key = (program.name, program.digest() if is_program(program.name) else "", around.uses_sandbox)
    if key not in _described:
        with tempfile.TemporaryDirectory() as name, Call(program, ("describe",), around) as call:
            Path(name).chmod(0o755)
            ended = call.run(Path(name), {})
            _described[key] = parse_description(parse_answer(call.maker, ended.stdout), call.maker)
    return _described[key]
