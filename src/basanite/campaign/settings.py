"""Settings of a server: from a TOML file, and from the environment (`BASANITE_MAIL__HOST=…`), which wins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, Field, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

DEMO_MARK: Final = "demo.json"
"""A data folder with this file was made by the demo: anyone who opens it, its accounts stay on this machine (X-15)."""


class Mail(BaseModel):
    """How mail goes out: by SMTP, or into a folder (`outbox/`) if no host is named."""

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = Field(default="", repr=False)
    tls: Literal["none", "starttls", "tls"] = "none"
    sender: str = "basanite@localhost"


class Retention(BaseModel):
    """How long is kept what is of no use later (P-21). Submissions, results and events are kept for ever."""

    links_days: float = 30.0
    """Used and expired links."""
    sessions_days: float = 30.0
    """Ended sessions."""
    messages_days: float = 90.0
    """Words and files of mails that were sent or given up; that there was one is kept."""
    addresses_days: float = 90.0
    """Digests of network addresses."""
    unused_accounts_days: float = 0.0
    """Accounts that never confirmed their address and take part in nothing are erased; 0: never."""


class Limits(BaseModel):
    """What one scoring child may use, and how long anything may take."""

    seconds: float = 1800.0
    memory: int = 4 * 2**30
    output: int = 256 * 2**20
    tries: int = 3
    """How often scoring is tried before a fault of ours is final."""
    silent_seconds: float = 30.0
    """After this time without a sign of life a worker's jobs are taken over."""
    pause_seconds: float = 2.0
    """The pause before something that failed by our fault is tried again; it doubles each time."""
    poll_seconds: float = 0.5
    """How often a worker looks for jobs."""
    duty_seconds: float = 10.0
    """How often a worker looks after messages, uploads, windows and pack keys."""
    slice_seconds: float = 60.0
    """How long the program of one team runs before it gives way, if programs or files of others wait (G-3)."""
    minute: float = 60.0
    """Seconds to which the durations of programs are rounded up before their teams learn that they have ended (G-2)."""
    box: Literal["required", "best"] = "required"
    """Whether sealed references are scored only where a box can be closed around the scorer (X-8)."""


class Reading(BaseModel):
    """What one call of the reading services may use (X-3, X-13)."""

    seconds: float = 20.0
    memory: int = 2**30
    output: int = 256 * 2**20
    rows: int = 10_000
    """Rows of an answer to a SPARQL query."""
    statements: int = 100_000
    """Statements that the reasoner holds, given and derived."""
    body: int = 16 * 2**20
    """Bytes that one call may send."""
    together: int = 2
    """Calls that are worked on side by side; one team has at most all but one of them."""
    waiting: int = Field(default=4, ge=1)
    """Calls of one team that wait for their turn; one more is told to come back (X-22)."""
    calls: str = "60/minute"
    """Calls of one person."""
    practice: int = 50
    """Practice tasks that a team may make in a day."""


class Provider(BaseModel):
    """Somewhere else where people can prove who they are, by OpenID Connect, or at GitHub (X-11, P-49)."""

    id: str
    title: str
    kind: Literal["oidc", "github"] = "oidc"
    issuer: str
    client: str
    secret: str = Field(default="", repr=False)
    api: str = ""
    """Of GitHub: where its API is, if that is not `/api/v3` below the issuer."""

    @model_validator(mode="after")
    def _check_kind(self) -> Provider:
        if self.kind == "github" and not self.secret:
            raise ValueError("a provider of kind github needs the secret of its OAuth app")
        if self.kind == "oidc" and self.api:
            raise ValueError("api belongs to a provider of kind github")
        return self


class Accounts(BaseModel):
    """How people sign in, and the guards around it (P-11)."""

    sign_up: bool = True
    """Whether strangers may make an account; otherwise organisers invite."""
    time_cost: int = 3
    memory_kib: int = 64 * 1024
    lanes: int = 4
    """The cost of one password hash (argon2id)."""
    failures: int = 5
    """Wrong passwords in a row before an account is locked for a while."""
    lock_minutes: float = 15.0
    link_minutes: float = 60.0
    """How long a mailed link works."""
    session_hours: float = 12.0
    idle_minutes: float = 120.0
    """A session ends this long after its last page."""
    tries: str = "10/minute"
    """Sign-ins, sign-ups and resets from one address."""
    providers: tuple[Provider, ...] = ()


class Storage(BaseModel):
    """Where files lie if not on this machine's disk: buckets of an object store that speaks S3 (P-15)."""

    files: str = ""
    """`s3://BUCKET/PREFIX` for submissions, results and packs; empty: `files/` in the data folder."""
    sealed: str = ""
    """The same for references; another bucket, which only the evaluation's own machines may read."""
    endpoint: str = ""
    """The address of the store; empty: that of AWS."""
    region: str = ""
    key_id: str = ""
    secret: str = Field(default="", repr=False)
    """Credentials; empty: from the environment, as AWS' own tools take them."""
    plain_http: bool = False
    """Whether the store may be spoken to without TLS: on this machine alone."""
    copies: int = Field(default=50 * 2**30, ge=0)
    """Bytes of copies that a machine keeps of each bucket; those used longest ago go first. 0: no bound."""


class Tls(BaseModel):
    """The certificate that this server itself speaks https with; not needed where a proxy does (X-36)."""

    certificate: Path | None = None
    """A file in PEM format, with the chain."""
    key: Path | None = None
    """Its private key; the server's user must be able to read it, and nobody else."""

    @model_validator(mode="after")
    def _expect_both(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("name both tls.certificate and tls.key, or neither")
        return self


class Settings(BaseSettings):
    """Everything that can be set about a server. Each has a default that works on one machine."""

    model_config = SettingsConfigDict(
        env_prefix="BASANITE_", env_nested_delimiter="__", toml_file="basanite.toml", extra="forbid"
    )

    data: Path = Path("basanite-data")
    database: str = Field(default="", repr=False)
    """An address for SQLAlchemy; empty: an SQLite file in the data folder."""
    vault: Path | None = None
    """Where keys lie; by default beside the data folder, in `DATA-vault`, so that a copy of the data holds no keys.
    Servers whose vault lies in the data folder keep it there until it is moved. Never part of a backup (X-36)."""
    address: str = ""
    """How the server is reached from outside; links in mails begin with it. Empty: where it was last started."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies whose word is taken for where a call comes from (`X-Forwarded-For`)."""
    tls: Tls = Field(default_factory=Tls)
    log_heads: Path | None = None
    """Where signed heads of the event log are written every hour; by default `log-heads.jsonl` in the data folder.
    Best on another machine's disk: they show if the log in the database was cut off or rewritten (X-31)."""
    drop: Path | None = None
    """The drop folder, one folder for each team; none: that door is closed."""
    plugins: tuple[str, ...] = ()
    """Plug-ins of other packages that this server may load (X-15)."""
    program_reads: tuple[Path, ...] = ()
    """Folders of this machine that programs of teams may read besides the system's own: interpreters, libraries."""
    zone: str = "UTC"
    language: Literal["en", "de", "es", "ar"] = "en"
    """The language of pages for participants and judges, where neither the reader nor the browser wants another."""
    mail: Mail = Field(default_factory=Mail)
    storage: Storage = Field(default_factory=Storage)
    limits: Limits = Field(default_factory=Limits)
    retention: Retention = Field(default_factory=Retention)
    loopback_webhooks: bool = False
    """Whether webhooks may call this machine itself, without https: for tests alone (X-10)."""
    accounts: Accounts = Field(default_factory=Accounts)
    reading: Reading = Field(default_factory=Reading)
    workers: int = 1
    """Submissions that one worker process scores side by side."""
    demo: bool = False
    encrypt_references: bool | None = None
    """Whether references are encrypted on disk, with a key in the vault (P-12). Not set: on every server that begins
    with an empty vault; older ones stay as they are (X-36)."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given in code wins over the environment, which wins over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @model_validator(mode="after")
    def _know_a_demo(self) -> Self:
        """A demo's folder makes a demo, whatever else is set (X-15)."""
        if (self.data / DEMO_MARK).exists():
            self.demo = True
        return self

    @property
    def database_url(self) -> str:
        """The address of the database in use."""
        return self.database or f"sqlite:///{self.data / 'basanite.sqlite'}"

    @property
    def vault_folder(self) -> Path:
        """The folder of secrets in use."""
        if self.vault is None and os.path.lexists(self.vault_inside):
            return self.vault_inside
        return self.vault_outside

    @property
    def vault_inside(self) -> Path:
        """Where older servers have their vault."""
        return self.data / "vault"

    @property
    def vault_outside(self) -> Path:
        """Where the vault belongs: as set, or beside the data folder."""
        folder = self.data.resolve()
        return self.vault or folder.parent / f"{folder.name}-vault"

    @property
    def https(self) -> bool:
        """Whether people reach this server by https, its own or a proxy's: then cookies are for https alone."""
        return self.tls.certificate is not None or self.address.lower().startswith("https:")
