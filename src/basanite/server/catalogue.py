"""Every sentence of the interface stands in one file, `catalogue.toml`: what a page says is looked up there (P-33).

The English sentence is the key, so templates stay readable; who wants other words changes them in the file. A test
fails if a template or a page says something that is not in the file, or the file holds what nobody says.
`python -m basanite.server.catalogue` brings the file up to date and keeps words that were changed in it.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from basanite.campaign.notices import messages
from basanite.reports.wording import printable
from basanite.server import languages

ISOLATE, RELEASE = "\u2068", "\u2069"
HERE = Path(__file__).parent
FILE = HERE / "catalogue.toml"
HEAD = "# Every sentence of the interface: the key is what templates and pages write, the value is what readers see.\n"
SENTENCE_ARGUMENTS = {"say": (0,), "say_plain": (0,), "sentence": (0,), "plural": (1, 2), "Confirmation": (0, 1, 2, 3)}
"""Which arguments of which calls are sentences; what actions ask before stands with their declaration."""
_CALL = re.compile(
    r"""(?<![\w.])(_|plural)\((?:[\w.|]+,\s*)?((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?:,\s*"(?:[^"\\]|\\.)*")?)"""
)
_CODE = re.compile("`([^`]+)`")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'')


@functools.cache
def catalogue() -> dict[str, str]:
    """The sentences by their keys."""
    text = resources.files("basanite.server").joinpath("catalogue.toml").read_text(encoding="utf-8")
    sentences: dict[str, str] = tomllib.loads(text)["sentences"]
    return sentences


def say(text: str, /, **values: Any) -> Markup:
    """A sentence of the catalogue with values put in, safe to stand in a page.

    >>> say("{count} left", count=3)
    Markup('3 left')
    """
    found = languages.translated(text)
    words = _CODE.sub(r"<code>\1</code>", str(escape(catalogue().get(text, text) if found is None else found)))
    return Markup(words).format(**{name: _value(value) for name, value in values.items()})


def say_plain(text: str, /, **values: Any) -> str:
    """The same as plain text, for what is no page, or becomes part of one later and is isolated there as a whole."""
    return say(text, **values).striptags().replace(ISOLATE, "").replace(RELEASE, "")


def sentence(text: str) -> str:
    """A sentence that is said later: only marks it for the catalogue."""
    return text


def plural(count: int, one: str, many: str, /, **values: Any) -> Markup:
    """One of two sentences by a count, which both may mention as {count}.

    >>> plural(1, "{count} run", "{count} runs"), plural(1200, "{count} run", "{count} runs")
    (Markup('1 run'), Markup('1,200 runs'))
    """
    return say(one if count == 1 else many, count=f"{count:,}", **values)


def used_sentences() -> set[str]:
    """Every sentence that a template or a page of ours says."""
    templates = (sentences_in(path.read_text(encoding="utf-8")) for path in HERE.glob("templates/**/*.html"))
    places = [*HERE.glob("**/*.py"), *HERE.parent.glob("campaign/actions/*.py")]
    modules = (sentences_in_module(path.read_text(encoding="utf-8")) for path in places)
    events = (template.event for template in messages.catalogue().values() if template.event)
    return {text for found in (*templates, *modules, events) for text in found}


def sentences_in(template: str) -> Iterator[str]:
    """The sentences of a template.

    >>> sorted(sentences_in('{{ _("Sign in") }} {{ plural(page.count, "{count} run", "{count} runs") }}'))
    ['Sign in', '{count} run', '{count} runs']
    """
    for call in _CALL.finditer(template):
        for double, single in _TEXT.findall(call[2]):
            yield (double or single).replace('\\"', '"').replace("\\'", "'")


def sentences_in_module(source: str) -> Iterator[str]:
    """The sentences of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            wanted = SENTENCE_ARGUMENTS.get(node.func.id, ())
            arguments = (node.args[at] for at in wanted if at < len(node.args))
            yield from (one.value for one in arguments if isinstance(one, ast.Constant) and isinstance(one.value, str))


def write_catalogue(sentences: dict[str, str]) -> str:
    """The catalogue as a file, in alphabetical order."""
    lines = (
        f"{json.dumps(key, ensure_ascii=False)} = {json.dumps(value, ensure_ascii=False)}"
        for key, value in sorted(sentences.items())
    )
    return f"{HEAD}[sentences]\n" + "\n".join(lines) + "\n"


def _value(value: Any) -> Any:
    """Strangers' words are shown with what hides in them and cannot turn the line around (P-33, X-14)."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    plain = value.isascii() and value.isprintable() and languages.direction() == "ltr"
    return value if plain else f"{ISOLATE}{printable(value)}{RELEASE}"


if __name__ == "__main__":
    held = catalogue() if FILE.exists() else {}
    FILE.write_text(write_catalogue({text: held.get(text, text) for text in used_sentences()}), encoding="utf-8")
