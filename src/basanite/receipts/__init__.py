"""Receipts: signed statements of what was handed in and what it scored, which anybody can check without a server.

A receipt is one line of canonical JSON: the same content has exactly one spelling, so that no byte can be changed
unseen. `make` signs with a key of the vault; `verify` trusts only keys that its caller gives (X-6).
"""

from basanite.receipts.signatures import Keyring, PublicKey, SigningKey, Trust, Verdict, make, verify

__all__ = ["Keyring", "PublicKey", "SigningKey", "Trust", "Verdict", "make", "verify"]
