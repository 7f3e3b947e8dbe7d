"""Planning of rounds: who judges what, in which order, so that every item gets its judgements in balance."""

from basanite.judging.planning.model import Assignment, Judge, Plan
from basanite.judging.planning.rounds import plan_more, plan_rounds

__all__ = ("Assignment", "Judge", "Plan", "plan_more", "plan_rounds")
