"""The look of the site: the product's own colours and type, given to the theme by the names it knows."""

from __future__ import annotations

from pathlib import Path

from basanite.reports.theme import DARK, LIGHT, MONO, SANS, declarations, embedded_typeface

RULES = Path(__file__).with_name("site.css")


def style() -> str:
    """Colours of both modes from the one file that pages, reports and slides share, then the rules that use them."""
    light = f":root, [data-md-color-scheme=default] {{ {declarations(LIGHT)} }}"
    dark = f"@media screen {{ [data-md-color-scheme=slate] {{ {declarations(DARK)} }} }}"
    type_ = f":root {{ --sans: {SANS}; --mono: {MONO}; }}"
    return "\n".join([embedded_typeface(), type_, light, dark, RULES.read_text(encoding="utf-8")])
