"""The secret in a link that works once: made from the vault's key, so that neither database nor outbox queue holds it.

A link's row keeps the digest of its secret, and a waiting mail keeps the link's random number; only who has the vault
too can write the address (X-11).
"""

from __future__ import annotations

import hashlib

from basanite.campaign.store.vault import Vault


def link_secret(vault: Vault, number: str) -> str:
    """The secret part of the address of the link with this random number."""
    return vault.hmac("digest", "links", number.encode())


def link_digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
