"""The vault: a folder of secrets that neither the database nor a backup holds.

Keys of persons (destroying one makes every copy of that person's data unreadable, P-21), nonces of sealed references
(X-1), keys of encrypted packs (M89), the signing keys (X-6) and the key that digests mail addresses.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from basanite.campaign.store.files import sync_folder
from basanite.errors import SettingError

NAME = re.compile(r"[A-Za-z0-9_-]+")


class Vault:
    """Named secrets in a folder that only the server's own user can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def secret(self, kind: str, name: str, *, size: int = 32) -> bytes:
        """The secret of this name, made at random when it is first asked for."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return self.read(kind, name)
        self.keep(kind, name, secrets.token_bytes(size))
        return self.read(kind, name)

    def read(self, kind: str, name: str) -> bytes:
        """A secret that must be there; FileNotFoundError if it is not (or was destroyed)."""
        return self._path(kind, name).read_bytes()

    def keep(self, kind: str, name: str, secret: bytes) -> None:
        """Keep a secret under a name; one that already exists stays as it is."""
        path = self._path(kind, name)
        self._make_folders(path.parent)
        fresh = path.with_name(f".{secrets.token_hex(8)}")
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secret)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(fresh, path)
        finally:  # on a full disk, too
            fresh.unlink(missing_ok=True)
        sync_folder(path.parent)

    def destroy(self, kind: str, name: str) -> None:
        """Overwrite and remove a secret; what was sealed with it is lost for ever."""
        path = self._path(kind, name)
        with suppress(FileNotFoundError):
            with path.open("r+b") as file:
                file.write(secrets.token_bytes(path.stat().st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
            sync_folder(path.parent)

    def names(self, kind: str) -> list[str]:
        """The names of all secrets of a kind."""
        folder = self.folder / kind
        return sorted(path.name for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []

    def kinds(self) -> list[str]:
        """The kinds of which there are secrets, or were."""
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir()) if self.folder.is_dir() else []

    def is_empty(self) -> bool:
        """Whether there is no secret yet."""
        return not any(map(self.names, self.kinds()))

    def move_to(self, other: Vault) -> int:
        """Move all secrets to another vault, which holds none or the same; gives how many.

        This one is whole until the other one is, and then loses its name at once.
        """
        found = [(kind, name) for kind in self.kinds() for name in self.names(kind)]
        for kind, name in found:
            other.keep(kind, name, self.read(kind, name))
            if other.read(kind, name) != self.read(kind, name):
                raise SettingError(f"{other.folder} holds another secret {kind}/{name}. Name an empty folder.")
        left = Vault(self.folder.rename(self.folder.with_name(f".{self.folder.name}-{secrets.token_hex(4)}")))
        for kind, name in found:
            left.destroy(kind, name)
        shutil.rmtree(left.folder)
        return len(found)

    def hmac(self, kind: str, name: str, content: bytes) -> str:
        """A digest of content that nobody without the vault can make or check."""
        return hmac.new(self.secret(kind, name), content, hashlib.sha256).hexdigest()

    def _make_folders(self, folder: Path) -> None:
        """Each folder is closed to others, whatever the umask of anyone who started the server."""
        for place in (self.folder, folder):
            if not place.is_dir():
                try:
                    place.mkdir(parents=True, exist_ok=True)
                except (PermissionError, FileExistsError, NotADirectoryError) as error:
                    cure = 'Name a folder that the server\'s user can write, outside the data folder: vault = "..."'
                    raise SettingError(f"The vault {place} cannot be created: {error.strerror}. {cure}") from None
                place.chmod(0o700)

    def _path(self, kind: str, name: str) -> Path:
        if not (NAME.fullmatch(kind) and NAME.fullmatch(name)):
            raise ValueError(f"{kind}/{name} cannot be the name of a secret")
        return self.folder / kind / name


def link_secret(vault: Vault, number: str) -> str:
    """The secret part of the address of the link with this random number."""
    return vault.hmac("digest", "links", number.encode())


def link_digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
