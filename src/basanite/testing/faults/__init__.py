"""Processes that are broken on purpose, and a judgement of what became of every submission (P-8)."""

from basanite.testing.faults.judging import FINAL, Judgement, all_ended, judge, states
from basanite.testing.faults.machines import (
    QUICK,
    Machines,
    descendants,
    free_port,
    serve,
    starved,
    wait_until,
    work,
)

__all__ = [
    "FINAL",
    "QUICK",
    "Judgement",
    "Machines",
    "all_ended",
    "descendants",
    "free_port",
    "judge",
    "serve",
    "starved",
    "states",
    "wait_until",
    "work",
]
