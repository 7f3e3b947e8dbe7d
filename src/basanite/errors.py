"""What we raise. An exception's docstring says what went wrong for whom; its message says the cure.

Mistakes inside users' files are never raised: they are found, all of them, as `problems.Problem` values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from basanite.problems import Findings


class BasaniteError(Exception):
    """Something the caller can fix; the message says how."""


class UnknownNameError(BasaniteError):
    """No plug-in, metric, task or setting has the name that was asked for."""


class NameClashError(BasaniteError):
    """Two plug-ins claim one name, so neither can be trusted to be the one meant."""


class MissingExtraError(BasaniteError):
    """A plug-in needs an optional dependency that is not installed."""


class SettingError(BasaniteError):
    """A setting is missing, unknown, or has a value that cannot be used."""


class ArgumentError(BasaniteError):
    """A Python function was called with an argument that it cannot take; the message says which it takes."""


class UnreadableError(BasaniteError):
    """A path given on the command line cannot be opened at all."""


class FeaturesError(BasaniteError):
    """Features, labels or probabilities cannot be measured; the message names the rows and the cure."""


class InvalidInputError(BasaniteError):
    """The input has problems; `findings` lists them all."""

    def __init__(self, task: str, findings: Findings) -> None:
        self.task, self.findings = task, findings
        total, rules = sum(findings.counts.values()), len(findings.counts)
        many = f"{total} problem{'s' * (total != 1)} in {rules} rule{'s' * (rules != 1)}, see `findings`"
        first = next(iter(findings), None)
        shown = f" The first: {first.place()}: {first.message}. Fix: {first.fix}." if first is not None else ""
        super().__init__(f"The input is not valid: {many}.{shown}")
