"""Text that a preview carries to its confirmation: what was looked at is what comes back, byte by byte."""

from __future__ import annotations

import base64
import binascii

from basanite.campaign.model.refusals import refused
from basanite.server.catalogue import said


def carried(text: str) -> str:
    """Text for a hidden field, in letters that no browser changes.

    >>> back(carried("two\\nlines"))
    'two\\nlines'
    """
    return base64.b64encode(text.encode()).decode()


def back(field: str) -> str:
    """What a hidden field carried; refused if it was made by something else."""
    try:
        return base64.b64decode(field, validate=True).decode()
    except (binascii.Error, ValueError):
        raise refused("P-11", said("this form cannot be read"), said("send it from its own page"), status=422) from None
