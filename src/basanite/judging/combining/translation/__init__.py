"""Judgements of translations: segments with scores and error spans, in and out of Appraise and MQM files (R-29)."""

from basanite.judging.combining.translation.appraise import appraise_files, read_appraise, write_appraise
from basanite.judging.combining.translation.mqm import mqm_files, read_mqm, write_mqm
from basanite.judging.combining.translation.segments import (
    Segment,
    SystemScore,
    score_of_errors,
    segments_of,
    system_scores,
)

__all__ = (
    "Segment",
    "SystemScore",
    "appraise_files",
    "mqm_files",
    "read_appraise",
    "read_mqm",
    "score_of_errors",
    "segments_of",
    "system_scores",
    "write_appraise",
    "write_mqm",
)
