"""What we depend on: every package at run time, its pin, what is installed, its licence, and versions known to be bad.

It works without a network, and so it knows only the weaknesses of `tools/known_bad.toml`. Where there is a network,
`pip-audit -r constraints.txt` asks a database that is kept up: do that before a release.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT: Final = Path(__file__).resolve().parent.parent
KNOWN_BAD: Final = Path("tools/known_bad.toml")
RUN_TIME: Final = (
    *("parquet", "tables", "charts", "slides", "measure"),
    *("server", "reading", "harness", "zarr", "inspect", "models", "s3", "dask", "mlflow", "wandb", "opentelemetry"),
)
"""The extras that somebody may run Basanite with; `peers` and `dev` are for tests alone."""
UNPINNED: Final = frozenset({"basanite"})
OFFLINE: Final = (
    "Asked without a network: only what tools/known_bad.toml lists was looked for.\n"
    "Before a release, where there is a network: pip-audit -r constraints.txt"
)

_PERMISSIVE: Final = (
    "MIT|MIT-0|MIT-CMU|BSD|BSD-2-Clause|BSD-3-Clause|0BSD|Apache-2.0|Apache-2.0 WITH LLVM-exception|ISC|PSF-2.0|Zlib|"
    "BSL-1.0|CC0-1.0|CNRI-Python|Unlicense|HPND|Python-2.0"
)
_WEAK: Final = "MPL-2.0|LGPL-2.1-or-later|LGPL-3.0-only|LGPL-3.0-or-later"
"""Used as they are, as packages of their own that anybody can replace: no duty for what is under Apache-2.0."""
ALLOWED: Final = frozenset((_PERMISSIVE + "|" + _WEAK).split("|"))
_SPELLINGS: Final[Mapping[str, str]] = {
    r"mit( license)?": "MIT",
    r"(new |modified |3-clause )?bsd( 3-clause)?( license)?": "BSD-3-Clause",
    r"bsd 2-clause license|freebsd": "BSD-2-Clause",
    r"apache( software)? license(,? version)?( 2\.0)?|apache[- ]2(\.0)?|apache software license": "Apache-2.0",
    r"isc license.*": "ISC",
    r"psfl?|python software foundation license": "PSF-2.0",
    r"mozilla public license 2\.0.*": "MPL-2.0",
    r"lgpl-3\.0-or-newer": "LGPL-3.0-or-later",
    r"gnu library or lesser general public license.*|gnu lesser general public license v3.*": "LGPL-3.0-or-later",
}
_CLASSIFIER: Final = "License :: OSI Approved :: "

Finder = Callable[[str], Distribution]


@dataclass(frozen=True, slots=True)
class Package:
    """One package that we run with."""

    name: str
    pinned: str
    installed: str
    licence: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bad:
    """Versions that must not be used."""

    package: str
    below: str
    advisory: str
    why: str


def pins(text: str) -> dict[str, str]:
    """The versions that a file of constraints fixes.

    >>> pins("# why\\nJinja2==3.1.6\\n")
    {'jinja2': '3.1.6'}
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    parts = (line.partition("==") for line in lines if "==" in line)
    return {canonicalize_name(name.strip()): version.strip() for name, _, version in parts}


def known_bad(text: str) -> tuple[Bad, ...]:
    """The table of versions that must not be used."""
    return tuple(Bad(**entry) for entry in tomllib.loads(text)["bad"])


def needed(name: str, extras: Sequence[str] = RUN_TIME, find: Finder = distribution) -> dict[str, Distribution | None]:
    """Everything that a package needs at run time, directly or through others; None for what is not installed."""
    found: dict[str, Distribution | None] = {}
    waiting = [Requirement(f"{name}[{','.join(extras)}]")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key not in seen:
            seen.add(key)
            held = found[key[0]] = _held(wanted.name, find)
            waiting += _requirements(held, wanted.extras) if held is not None else ()
    return found


def licence_of(held: Distribution) -> str:
    """The licence that a package states, in one spelling; what it states where we do not know that."""
    expression, plain, classifiers = (_stated(held, name) for name in ("License-Expression", "License", "Classifier"))
    if expression:
        return expression[0]
    approved = [text.removeprefix(_CLASSIFIER) for text in classifiers if text.startswith(_CLASSIFIER)]
    texts = [*(text.partition("\n")[0] for text in plain), *approved]
    return next(filter(None, map(_spelt, texts)), "") or next(filter(None, texts), "unknown")


def is_allowed(licence: str) -> bool:
    """Whether a licence lets us depend on the package: all its parts do, or one of its choices.

    >>> is_allowed("Apache-2.0 OR GPL-3.0-only"), is_allowed("MIT AND GPL-3.0-only"), is_allowed("unknown")
    (True, False, False)
    """
    choices = re.split(r"\s+OR\s+", licence)  # brackets are not worked out: what has some is not allowed
    return any(all(part.strip() in ALLOWED for part in re.split(r"\s+AND\s+", choice)) for choice in choices)


def audit(
    name: str,
    pinned: Mapping[str, str],
    bad: Sequence[Bad],
    *,
    extras: Sequence[str] = RUN_TIME,
    find: Finder = distribution,
) -> list[Package]:
    """Every package that we run with, and what is wrong with it."""
    everything = needed(name, extras, find)
    return [_audited(each, everything[each], pinned, bad) for each in sorted(everything) if each not in UNPINNED]


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print the packages and what is wrong with them; 1 if anything is."""
    parser = argparse.ArgumentParser(prog="audit", description="Says what we depend on, and what is wrong with it.")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    pinned = pins((root / "constraints.txt").read_text(encoding="utf-8"))
    found = audit("basanite", pinned, known_bad((root / KNOWN_BAD).read_text(encoding="utf-8")))
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    else:
        print("\n".join([*map(_line, found), "", *_summary(found), OFFLINE]))
    return 1 if any(one.faults for one in found) else 0


def _held(name: str, find: Finder) -> Distribution | None:
    try:
        return find(name)
    except PackageNotFoundError:
        return None


def _requirements(held: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for text in held.requires or ():
        wanted = Requirement(text)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield wanted


def _stated(held: Distribution, name: str) -> list[str]:
    return [str(text).strip() for text in held.metadata.get_all(name) or ()]


def _spelt(text: str) -> str:
    spelling = next((good for pattern, good in _SPELLINGS.items() if re.fullmatch(pattern, text, re.IGNORECASE)), "")
    return text if text in ALLOWED else spelling


def _audited(name: str, held: Distribution | None, pinned: Mapping[str, str], bad: Sequence[Bad]) -> Package:
    pin, installed = pinned.get(name, ""), held.version if held is not None else ""
    licence = licence_of(held) if held is not None else ""
    return Package(name, pin, installed, licence, tuple(_faults(name, pin, installed, licence, bad)))


def _faults(name: str, pin: str, installed: str, licence: str, bad: Sequence[Bad]) -> Iterator[str]:
    if not pin:
        yield "no version of it is fixed in constraints.txt"
    if pin and installed and pin != installed:
        yield f"{installed} is installed, {pin} was tested"
    if installed and not is_allowed(licence):
        yield f"its licence, {licence[:60]}, is not among those that we may depend on"
    for one in bad:
        if canonicalize_name(one.package) == name and any(_before(version, one.below) for version in (pin, installed)):
            yield f"below {one.below}: {one.why} ({one.advisory})"


def _before(version: str, other: str) -> bool:
    try:
        return Version(version) < Version(other)
    except InvalidVersion:
        return False


def _line(one: Package) -> str:
    state = "; ".join(one.faults) or ("" if one.installed else "not installed here")
    return f"{one.name:28} {one.installed or one.pinned:14} {one.licence[:40]:40} {state}".rstrip()


def _summary(found: Sequence[Package]) -> list[str]:
    faulty = sum(1 for one in found if one.faults)
    return [f"{len(found)} packages at run time, {faulty} with something wrong."]


if __name__ == "__main__":
    sys.exit(main())
