"""Receipts: signed statements of what was handed in and what it scored, which anybody can check without a server.

A receipt is one line of canonical JSON: the same content has exactly one spelling, so that no byte can be changed
unseen. `make` signs with a key of the vault; `verify` trusts only keys that its caller gives (X-6).
"""

from basanite.receipts.keys import Keyring, PublicKey, SigningKey
from basanite.receipts.signing import make
from basanite.receipts.verifying import Trust, Verdict, verify

__all__ = ["Keyring", "PublicKey", "SigningKey", "Trust", "Verdict", "make", "verify"]
