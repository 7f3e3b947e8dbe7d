"""How each test enters: by a command, an HTTP call, a page or a public function, or only inside (D-1).

What holds inside may fail where people stand, so a requirement counts as proven only by a test that enters by a door.
Tests are read, not run: the body, decorators and fixtures of a test, and every function of the tests that these use.
Whether a test asserts through its door or only prepares by it is left to reviewers.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

TESTS = Path("tests")
PUBLIC_NAMES = Path("docs/reference/python.md")
DOORS = {
    "command": ("basanite.cli.main", "basanite.cli.app", "click.testing.CliRunner"),
    "call": ("starlette.testclient.TestClient", "httpx.", "httpx2.", "uvicorn.", "urllib.request."),
    "page": ("playwright.",),
}
"""Full names by the door they open; one that ends with a dot stands for everything below it."""

_PROCESS = "subprocess."
_COMMAND_WORD = re.compile(r"(?:^|[\s/])basanite(?:\.cli\b|\s|$)")
_FIXTURES_BY_TEXT = ("usefixtures", "getfixturevalue")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Mark = tuple[str, str]
"""The id of a requirement and the case that the test shows: good, bad, or empty for both."""


@dataclass(frozen=True, eq=False)
class Module:
    """One file of the tests, with what it defines and imports by the names used in it."""

    path: Path
    tree: ast.Module

    @cached_property
    def definitions(self) -> dict[str, list[ast.stmt]]:
        """Functions, classes and values by name; a name can be given twice."""
        return _definitions(self.tree.body)

    @cached_property
    def imports(self) -> dict[str, str]:
        """The full name behind each imported one, wherever in the file the import is written."""
        return dict(pair for node in ast.walk(self.tree) for pair in _imported(node))


@dataclass(frozen=True, eq=False)
class Place:
    """A piece of a module that a test runs: a function, a class or a value, and the class around it."""

    module: Module
    node: ast.stmt
    owner: ast.ClassDef | None = None


class Entrances:
    """The tests below a root, by how they enter."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[Path, Module | None] = {}
        self._doors: dict[str, str] = {}
        self._links: dict[ast.stmt, list[Place]] = {}

    @cached_property
    def public(self) -> frozenset[str]:
        """Full names of the documented functions; modules and types alone are no way in."""
        page = self.root / PUBLIC_NAMES
        names = _documented(page.read_text(encoding="utf-8")) if page.is_file() else ()
        return frozenset(name for name in names if not _is_module(self.root / "src", name))

    def door(self, test: str) -> str:
        """The name of the door by which a test enters, from its node id; empty for a test that stays inside."""
        known = test.partition("[")[0]
        if known not in self._doors:
            self._doors[known] = self._door_of(known)
        return self._doors[known]

    def marked(self) -> dict[str, list[Mark]]:
        """The requirements that each test carries in its source, by node id."""
        found: dict[str, list[Mark]] = {}
        for path in sorted((self.root / TESTS).rglob("test_*.py")):
            module = self._module(path)
            found |= dict(_marked_tests(module, path.relative_to(self.root).as_posix())) if module else {}
        return found | dict(self._marked_cases())

    def _door_of(self, test: str) -> str:
        places = list(self._reached(test))
        names = {full for place in places for full in self._full_names(place)}
        for door, entries in DOORS.items():
            if any(_matches(name, entry) for name in names for entry in entries):
                return door
        starts = any(name.startswith(_PROCESS) for name in names)
        if starts and any(_COMMAND_WORD.search(text) for place in places for text in _texts(place.node)):
            return "command"
        return "function" if names & self.public else ""

    def _reached(self, test: str) -> Iterator[Place]:
        """The test and everything of the tests that it uses, each once."""
        waiting, seen = self._places_of(test), set()
        while waiting:
            place = waiting.pop()
            if place.node not in seen:
                seen.add(place.node)
                yield place
                if place.node not in self._links:
                    self._links[place.node] = list(self._used(place))
                waiting += self._links[place.node]

    def _places_of(self, test: str) -> list[Place]:
        path, *names = test.split("::")
        module, owner = self._module(self.root / path), None
        if module is None:
            return []
        found = module.definitions
        for name in names[:-1]:
            owner = next(node for node in found[name] if isinstance(node, ast.ClassDef))
            found = _definitions(owner.body)
        return [Place(module, node, owner) for node in found.get(names[-1], ())]

    def _used(self, place: Place) -> Iterator[Place]:
        for full in self._full_names(place):
            yield from self._places_named(full, place.module)
        own = _definitions(place.owner.body) if place.owner else {}
        for name in _dotted_names(place.node):
            yield from (Place(place.module, node) for node in place.module.definitions.get(name.partition(".")[0], ()))
            yield from (Place(place.module, node, place.owner) for node in own.get(name.removeprefix("self."), ()))
        for name in _fixture_names(place.node):
            yield from self._fixtures(name, place)

    def _full_names(self, place: Place) -> set[str]:
        imports = place.module.imports
        split = (name.partition(".") for name in _dotted_names(place.node))
        return {f"{imports[first]}{dot}{rest}" for first, dot, rest in split if first in imports}

    def _places_named(self, full: str, user: Module) -> Iterator[Place]:
        """What a full name stands for in the tests: `tests.cli.running.here`, or a module beside its user."""
        parts = full.split(".")
        for base in (self.root, *_folders(user.path, self.root)):
            for length in range(len(parts) - 1, 0, -1):
                module = self._module(base.joinpath(*parts[:length]).with_suffix(".py"))
                if module is not None and module is not user:
                    yield from self._places_in(module, parts[length])
                    return

    def _places_in(self, module: Module, name: str) -> Iterator[Place]:
        yield from (Place(module, node) for node in module.definitions.get(name, ()))
        if name in module.imports and name not in module.definitions:
            link = ast.Expr(ast.Name(name))  # passed on by its module: who reads it there reads what it imports
            yield Place(module, link)

    def _fixtures(self, name: str, user: Place) -> Iterator[Place]:
        """The fixture a name stands for: the module's own, or that of the nearest conftest."""
        near = [user.module, *(self._module(f / "conftest.py") for f in _folders(user.module.path, self.root))]
        for module in filter(None, near):
            found = [place for place in self._places_in(module, name) if place.node is not user.node]
            if found:
                yield from found
                return

    def _module(self, path: Path) -> Module | None:
        if path not in self._modules:
            inside = path.is_relative_to(self.root / TESTS) and path.is_file()
            self._modules[path] = Module(path, ast.parse(path.read_text(encoding="utf-8"))) if inside else None
        return self._modules[path]

    def _marked_cases(self) -> Iterator[tuple[str, list[Mark]]]:
        """Golden cases are folders: the file with the expected values names the requirements."""
        for path in sorted((self.root / TESTS / "golden").glob("*/*/expected.json")):
            names = json.loads(path.read_text(encoding="utf-8")).get("requirements", ())
            test = "tests/golden/test_golden.py::test_a_case_has_the_values_worked_out_for_it"
            yield f"{test}[{path.parent.parent.name}/{path.parent.name}]", [(name, "") for name in names]


def shown_cases(marked: Mapping[str, Iterable[Mark]]) -> dict[str, dict[str, set[str]]]:
    """The tests of each requirement by the case they show: good, bad, or empty for both."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for test, marks in marked.items():
        for name, case in marks:
            found[name][case].add(test)
    return found


def _marked_tests(module: Module, path: str) -> Iterator[tuple[str, list[Mark]]]:
    base = _marks(module, module.definitions.get("pytestmark", ()))
    for name, nodes in module.definitions.items():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield from _marked_methods(module, node, base, f"{path}::{name}")
            elif name.startswith("test"):
                own = node.decorator_list if isinstance(node, _FUNCTIONS) else [node]
                if marks := [*base, *_marks(module, own)]:
                    yield f"{path}::{name}", marks


def _marked_methods(
    module: Module, owner: ast.ClassDef, base: list[Mark], prefix: str
) -> Iterator[tuple[str, list[Mark]]]:
    within = _definitions(owner.body)
    base = [*base, *_marks(module, [*owner.decorator_list, *within.get("pytestmark", ())])]
    for name, nodes in within.items():
        for node in nodes:
            marks = [*base, *_marks(module, getattr(node, "decorator_list", ()))]
            if name.startswith("test") and marks:
                yield f"{prefix}::{name}", marks


def _marks(module: Module, nodes: Iterable[ast.AST]) -> list[Mark]:
    """The marks written in some nodes, or in the values of the module that these name: lists of parameters."""
    listed = list(nodes)
    named = [one for node in listed for name in _dotted_names(node) for one in module.definitions.get(name, ())]
    values = [node for node in named if isinstance(node, ast.Assign | ast.AnnAssign) and node not in listed]
    calls = [call for node in (*listed, *values) for call in ast.walk(node) if isinstance(call, ast.Call)]
    return [mark for call in calls if ast.unparse(call.func) == "pytest.mark.req" for mark in _mark(call)]


def _mark(call: ast.Call) -> Iterator[Mark]:
    case = next((word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)), "")
    for argument in call.args:
        if isinstance(argument, ast.Constant):
            yield str(argument.value), str(case)


def _definitions(body: Iterable[ast.stmt]) -> dict[str, list[ast.stmt]]:
    found: dict[str, list[ast.stmt]] = defaultdict(list)
    for node in body:
        for name in _names_given(node):
            found[name].append(node)
    return dict(found)


def _names_given(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


@cache
def _dotted_names(node: ast.AST) -> frozenset[str]:
    """All names in a node with the attributes taken from them: `basanite.score` as well as `basanite`."""
    return frozenset(filter(None, map(_dotted, ast.walk(node))))


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _fixture_names(node: ast.stmt) -> Iterator[str]:
    """The fixtures that a test or fixture asks for: by its arguments, or by name as text."""
    if isinstance(node, _FUNCTIONS) and (node.name.startswith("test") or _is_fixture(node)):
        yield from (argument.arg for argument in (*node.args.args, *node.args.kwonlyargs))
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _FIXTURES_BY_TEXT:
            yield from (str(word.value) for word in call.args if isinstance(word, ast.Constant))


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)


def _texts(node: ast.AST) -> set[str]:
    """The strings of a node that are not documentation."""
    docs = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Expr)}
    texts = (one for one in ast.walk(node) if isinstance(one, ast.Constant) and id(one) not in docs)
    return {one.value for one in texts if isinstance(one.value, str)}


def _matches(name: str, entry: str) -> bool:
    return name.startswith(entry) if entry.endswith(".") else name == entry


@cache
def _folders(path: Path, root: Path) -> list[Path]:
    """The folders of a test from its own up to that of all tests."""
    return [folder for folder in path.parents if folder.is_relative_to(root / TESTS)]


def _documented(text: str) -> Iterator[str]:
    """Full names on the page; in a paragraph, further names belong to the module named first or lie beside it."""
    for paragraph in re.split(r"\n(?=\n|- |#)", text):
        full = re.findall(r"basanite(?:\.[a-z_]+)+", paragraph)
        further = re.findall(r"`([a-z_]+)`", paragraph)
        bases = {base for name in full[:1] for base in (name, name.rpartition(".")[0])}
        yield from full
        yield from (f"{base}.{name}" for base in bases for name in further)


def _is_module(source: Path, name: str) -> bool:
    path = source.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()
