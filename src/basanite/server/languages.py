"""The language of a page: who chooses it, which there are, and what is not translated yet (P-33).

Pages for participants and judges are translated; those of organizers, annotators and operators are in English, and so
are a campaign's own texts, problems in files, and mails. A reader chooses in the footer, and the browser keeps it; else
the browser's own languages decide, else the setting `language`. Where a sentence has no translation it is in English.
`python -m basanite.server.languages` lists these sentences.
"""

from __future__ import annotations

import functools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie
from importlib import resources
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

ENGLISH: Final = "en"
LANGUAGES: Final[dict[str, str]] = {ENGLISH: "English", "de": "Deutsch", "es": "Español", "ar": "العربية"}
"""Each by what its readers call it."""
RIGHT_TO_LEFT: Final = frozenset({"ar"})
COOKIE: Final = "basanite-language"
MOST_WANTED: Final = 20
"""Languages of a browser that are looked at."""
IN_ENGLISH: Final = re.compile(
    r"/(?:api|static|health|metrics|setup|demo|new-campaign|operate)\b"
    r"|/campaigns/(?:new\b|[^/]+/(?:organise|annotate|adjudicate|reading|leaderboard/embed|badge\.svg))"
)
"""Addresses of pages that are not translated, and of what other sites show to everybody."""
FOLDERS: Final = ("account", "campaign", "judging", "results", "runs", "teams")
TEMPLATES: Final = ("base.html", "parts.html", "start.html", "error.html")
OTHERS: Final = frozenset({"account/new_campaign.html", "account/setup.html"})
"""Templates in these folders that are for organizers."""
MODULES: Final = (
    "account", "announcements", "campaign", "campaign_face", "compare", "forms", "frame", "judge", "judge_desk",
    "judge_items", "judge_questions", "leaderboard", "leaderboard_charts", "leaderboard_exports", "packs", "results",
    "sign_in", "site", "submissions", "submit", "teams", "times", "transcripts", "values",
)  # fmt: skip
"""Modules of pages for participants and judges."""
_current: ContextVar[str] = ContextVar("language", default=ENGLISH)


def current() -> str:
    """The language of the page that is being made."""
    return _current.get()


def direction() -> str:
    """Where its lines begin: `ltr` or `rtl`."""
    return "rtl" if current() in RIGHT_TO_LEFT else "ltr"


@functools.cache
def translations(language: str) -> Mapping[str, str]:
    """The sentences of a language by their English keys."""
    file = resources.files("basanite.server").joinpath("translations", f"{language}.toml")
    found: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))["sentences"]
    return found


def translated(text: str) -> str | None:
    """A sentence in the language of the page; None in English, and where there is no translation."""
    language = current()
    return None if language == ENGLISH else translations(language).get(text)


def choose_language(path: str, cookie: str, accepted: str, usual: str) -> str:
    """The language for a reader: chosen before, the first of the browser's that there is, or the server's.

    >>> choose_language("/", "", "fr-CH, de;q=0.7, en;q=0.8", "en"), choose_language("/", "ar", "de", "en")
    ('en', 'ar')
    >>> choose_language("/campaigns/x/organise", "de", "de", "de"), choose_language("/", "xx", "es-MX", "en")
    ('en', 'es')
    """
    if IN_ENGLISH.match(path):
        return ENGLISH
    return next((one for one in (cookie, *wanted_languages(accepted), usual) if one in LANGUAGES), ENGLISH)


def wanted_languages(accepted: str) -> list[str]:
    """The languages of the header `Accept-Language`, the most wanted first; what cannot be read counts as unwanted."""
    found: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted.split(",")[:MOST_WANTED]):
        name, _, weight = part.strip().partition(";")
        quality = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", weight) if weight else None
        wanted = 1.0 if not weight else float(quality[1]) if quality else 0.0
        if wanted > 0:
            found.append((-wanted, place, name.strip().lower().partition("-")[0]))
    return [name for _, _, name in sorted(found)]


class LanguageOfCall:
    """Sets the language before a call is answered."""

    def __init__(self, app: ASGIApp, usual: str) -> None:
        self.app, self.usual = app, usual

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        chosen = choose_language(
            scope["path"], _cookie(headers.get("cookie", "")), headers.get("accept-language", ""), self.usual
        )
        token = _current.set(chosen)
        try:
            await self.app(scope, receive, send)
        finally:
            _current.reset(token)


def _cookie(header: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(header)
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def needed_sentences() -> set[str]:
    """Every sentence of the pages for participants and judges."""
    from basanite.server import catalogue  # which asks this module for translations

    base = catalogue.HERE / "templates"
    templates = [base / name for name in TEMPLATES]
    templates += [path for folder in FOLDERS for path in sorted((base / folder).glob("*.html"))]
    kept = (path for path in templates if path.relative_to(base).as_posix() not in OTHERS)
    modules = (catalogue.HERE / "pages" / f"{name}.py" for name in MODULES)
    found: set[str] = set()
    for path in kept:
        found |= set(catalogue.sentences_in(path.read_text(encoding="utf-8")))
    for path in modules:
        found |= set(catalogue.sentences_in_module(path.read_text(encoding="utf-8")))
    return found


def missing_sentences(language: str) -> list[str]:
    """The sentences of these pages that a language lacks."""
    return sorted(needed_sentences() - translations(language).keys())


def _report() -> Iterator[str]:
    for language, name in LANGUAGES.items():
        if language != ENGLISH:
            absent = missing_sentences(language)
            yield f"{language} ({name}): {len(absent)} missing"
            yield from (f"  {text}" for text in absent)


if __name__ == "__main__":
    sys.stdout.write("\n".join(_report()) + "\n")
