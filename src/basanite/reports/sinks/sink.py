"""What a sink is: a name, the settings it takes, and a function that hands a result on (Y-9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from basanite.errors import SettingError
from basanite.registry import suggestion
from basanite.reports.result_files import Result


@dataclass(frozen=True)
class Sink:
    """One format or service that takes results."""

    name: str
    summary: str
    send: Callable[[Result, Mapping[str, str]], str]
    """Hands a result on by the settings that were given, and says where it went."""
    settings: Mapping[str, str]
    """What may be set, each with one line of help."""
    required: tuple[str, ...] = ()

    def take(self, result: Result, given: Mapping[str, str]) -> str:
        """Check the settings and hand the result on."""
        for name in given:
            if name not in self.settings:
                raise SettingError(f"{self.name} has no setting {name!r}. {suggestion(name, tuple(self.settings))}")
        for name in self.required:
            if name not in given:
                raise SettingError(f"{self.name} needs the setting {name!r}: {self.settings[name]} (--set {name}=…)")
        return self.send(result, given)


def defined_values(result: Result) -> Iterator[tuple[str, float, Mapping[str, Any]]]:
    """The values of a result that are numbers, the primary one first, each with its interval and units."""
    names = [result.primary, *(name for name in result.values if name != result.primary)]
    for name in names:
        value = result.values.get(name)
        if value is not None and value.value == value.value and abs(value.value) != float("inf"):
            more = {"low": value.low, "high": value.high, "units": value.units, "method": value.method}
            yield name, value.value, more
