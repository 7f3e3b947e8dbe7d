"""The stages of `basanite.scoring` by the short names that plug-ins import."""

from basanite.scoring import analyse_scores as analyse
from basanite.scoring import build_comparison_report as compare_report
from basanite.scoring import build_report as report
from basanite.scoring import find_task
from basanite.scoring import read_inputs as read
from basanite.scoring import score_submission as score
from basanite.scoring import validate_submission as validate

__all__ = ["analyse", "compare_report", "find_task", "read", "report", "score", "validate"]
