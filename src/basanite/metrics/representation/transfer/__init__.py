"""Transferability: how well features or predictions learned on one task would serve another.

Plain functions of arrays; nothing is trained. Arguments are named for what they are, because published figures have
been wrong through swapped ones.

Nguyen et al., LEEP (ICML 2020); Bao et al., H-score (ICIP 2019); Ibrahim et al., shrunken H-score (2021); Tan et al.,
OTCE (CVPR 2021).
"""

from __future__ import annotations

from basanite.metrics.representation.transfer.h_score import h_score
from basanite.metrics.representation.transfer.leep import leep
from basanite.metrics.representation.transfer.otce import Otce, Plan, otce

__all__ = ["Otce", "Plan", "h_score", "leep", "otce"]
