"""Reports: one model, several outputs. Build a report from an analysis, then `write` it as what its reader wants."""

from basanite.reports.kinds.comparing import comparison_report
from basanite.reports.kinds.scoring import analysis_report
from basanite.reports.kinds.validating import validation_report
from basanite.reports.model import Headline, Report, Section
from basanite.reports.outputs import Output, output_for, write

__all__ = [
    "Headline",
    "Output",
    "Report",
    "Section",
    "analysis_report",
    "comparison_report",
    "output_for",
    "validation_report",
    "write",
]
