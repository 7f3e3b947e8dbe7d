"""Judgements of translations: segments with scores and error spans, in and out of the files of other tools (R-29)."""

from basanite.judging.combining.translation.appraise import appraise_files, read_appraise, write_appraise
from basanite.judging.combining.translation.mqm import mqm_files, read_mqm, write_mqm
from basanite.judging.combining.translation.segments import (
    Segment,
    Selection,
    SystemScore,
    score_of_errors,
    segments_of,
    select,
    system_scores,
)
from basanite.judging.combining.translation.wmt_da import is_wmt_da, read_wmt_da, standardised_already

__all__ = (
    "Segment",
    "Selection",
    "SystemScore",
    "appraise_files",
    "is_wmt_da",
    "mqm_files",
    "read_appraise",
    "read_mqm",
    "read_wmt_da",
    "score_of_errors",
    "segments_of",
    "select",
    "standardised_already",
    "system_scores",
    "write_appraise",
    "write_mqm",
)
