"""What a false alarm costs against a miss, by language and task: the plan's table, or constants of one's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from basanite.errors import SettingError
from basanite.tasks import Setting
from basanite.tasks.setting_kinds import number_or_nan

PLAN = "MATERIAL v6.0.4"
VALUE, PRIOR = 1.0, 1 / 600


def beta_of_constants(cost: float, value: float, prior: float) -> float:
    """beta = C/V (1/P - 1): what a false alarm costs against what a hit is worth (M04).

    >>> round(beta_of_constants(0.1, 1, 1 / 600), 4)
    59.9
    """
    if value == 0:
        raise SettingError("value=0 cannot be used: beta = cost/value (1/prior - 1) divides by it.")
    if not 0 < prior < 1:
        raise SettingError(f"prior={prior:g} cannot be used: it is a probability between 0 and 1, neither included.")
    return cost / value * (1 / prior - 1)


@dataclass(frozen=True)
class Betas:
    """One task's column of the plan's Table 1."""

    task: str
    printed: Mapping[str, float]
    """By language: the values as they are printed, not what their constants give when multiplied out (C02)."""
    cost: Mapping[str, float]
    """By language: C. The plan heads two columns of CLIR+S with C; the first of them is V (C01)."""

    def used(self, settings: Mapping[str, Any], language: str | None, *, name: str = "beta") -> dict[str, Any]:
        """Which beta is used, and what the constants give: both are shown (M03, M04)."""
        value, prior = settings["value"], settings["prior"]
        value, prior = VALUE if value is None else value, PRIOR if prior is None else prior
        cost = self.cost.get(language or "") if settings["cost"] is None else settings["cost"]
        beta_of_constants(1.0, value, prior)  # what cannot be used is refused even where it is not needed
        derived = None if cost is None else beta_of_constants(cost, value, prior)
        return {name: self._chosen(settings, language, derived, name), f"{name}_from_constants": derived}

    def _chosen(self, settings: Mapping[str, Any], language: str | None, derived: float | None, name: str) -> float:
        if settings[name] is not None:
            return float(settings[name])
        if derived is not None and any(settings[name] is not None for name in ("cost", "value", "prior")):
            return derived
        if language is not None and language in self.printed:
            return self.printed[language]
        known = ", ".join(self.printed)
        what = (
            f"No beta is known for language {language!r} and {self.task}" if language else "The language is not known"
        )
        raise SettingError(
            f"{what}, and there is no default. Set {name} (--set {name}=20), or language to one of {known}."
        )

    def settings(self) -> tuple[Setting, ...]:
        """The settings that decide about beta."""
        languages = ", ".join(self.printed)
        return (
            Setting("beta", "What a false alarm costs against a miss; overrides language and constants.", number),
            Setting("language", f"One of {languages}; read from the DocIDs if they name one.", str),
            Setting("cost", "C of beta = C/V (1/P - 1).", number),
            Setting("value", "V of beta = C/V (1/P - 1).", number),
            Setting("prior", "P of beta = C/V (1/P - 1), a probability.", number),
        )


CLIR_BETAS = Betas("CLIR", {"1A": 20.0, "1B": 20.0, "1S": 40.0}, {"1A": 0.0333, "1B": 0.0333, "1S": 0.0668})
E2E_BETAS = Betas("E2E", {"1A": 59.9, "1B": 59.9, "1S": 40.0}, {"1A": 0.1, "1B": 0.1, "1S": 0.0668})


def language_of(documents: Iterable[str], pattern: re.Pattern[str]) -> str | None:
    """The one language that the document identifiers name, if they do."""
    if "language" not in pattern.groupindex:
        return None
    matches = (pattern.fullmatch(name) for name in documents)
    found = {match["language"] for match in matches if match is not None}
    return found.pop() if len(found) == 1 else None


def number(text: str) -> float:
    """A setting that is a finite number, 0 or more."""
    value = number_or_nan(text)
    if not 0 <= value < float("inf"):
        raise ValueError("it must be a finite number, 0 or more")
    return value
