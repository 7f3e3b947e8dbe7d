"""Reports: one model, several outputs. Build a report from an analysis, then `write` it as what its reader wants."""

from basanite.reports.analysis import analysis_report
from basanite.reports.report import Headline, Output, Report, Section, output_for, validation_report, write

__all__ = ["Headline", "Output", "Report", "Section", "analysis_report", "output_for", "validation_report", "write"]
