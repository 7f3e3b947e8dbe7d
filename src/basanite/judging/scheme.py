"""Schemes by their front door: read a text, get a scheme or everything that is wrong with it."""

from __future__ import annotations

from basanite.judging.schemes.model import (
    Adjudicate,
    Category,
    Checks,
    Combine,
    Consent,
    Option,
    Pay,
    Question,
    Scheme,
    Severity,
    Training,
    Widget,
)
from basanite.judging.schemes.reading import PRESETS, preset_text, read_scheme

__all__ = (
    "PRESETS",
    "Adjudicate",
    "Category",
    "Checks",
    "Combine",
    "Consent",
    "Option",
    "Pay",
    "Question",
    "Scheme",
    "Severity",
    "Training",
    "Widget",
    "preset_text",
    "read_scheme",
)
