"""Rules of the reasoner: one syntax tree, two ways to write it (s-expressions and YAML), and checks before they run."""

from basanite.reading.rules.checks import check_rules
from basanite.reading.rules.files import read_rules
from basanite.reading.rules.tree import Place, Rule, RuleSet

__all__ = ["Place", "Rule", "RuleSet", "check_rules", "read_rules"]
