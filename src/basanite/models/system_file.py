"""The file of a system: which endpoint is asked, with which prompt, how answers are read, what it may cost (L-1).

A key is named by the variable of the environment that holds it; the file never holds it, and nothing we write does.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from basanite.canonical import canonical_digest
from basanite.formats.bounded import read_bounded
from basanite.formats.config_file import Name, Section, WrongError, read_section
from basanite.formats.toml_file import LARGEST, Table, TomlReport, entry_lines, parse_toml
from basanite.problems import Findings

KIND: Final = "system"
RULE: Final = "L-1"
MILLION: Final = 1_000_000
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
COLUMN: Final = re.compile(r"\{\{|\}\}|\{([^{}\n]{1,100})\}")
"""A column of an item in a template; two braces stand for one."""
CHAT: Final = "chat"
COMPLETIONS: Final = "completions"
FOLDER: Final = "folder:"
"""What the address of a model in a local folder begins with."""
Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _address(text: str) -> str:
    if text.startswith(FOLDER) and text.removeprefix(FOLDER).strip():
        return text
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise WrongError("`{key}` of {place} is no address of an endpoint", 'write {key} = "https://HOST/v1"')
    if parts.username is not None or parts.password is not None:
        raise WrongError("`{key}` of {place} holds a name or password", 'name the variable that holds it: key = "…"')
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        fix = "use https; http is for endpoints on this machine"
        raise WrongError("`{key}` of {place} would send items and the key unencrypted", fix)
    return text.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _variable(text: str) -> str:
    if text and not VARIABLE.fullmatch(text):
        fix = 'write the name of a variable, such as {key} = "MODEL_KEY", and set it in the environment'
        raise WrongError("`{key}` of {place} is not the name of a variable", fix, found="(not shown)", instead="")
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise WrongError(f"`{{key}}` of {{place}} is no pattern: {error}", "write a regular expression") from error
    return text


Pattern: TypeAlias = Annotated[str, AfterValidator(_pattern), Field(max_length=500)]


@dataclass(frozen=True)
class Endpoint(Section):
    """Where the model is asked, and how hard."""

    url: Annotated[str, AfterValidator(_address)]
    """The address that ends before `/chat/completions`, or `folder:PATH` for a model of transformers in a folder."""
    model: str
    """What the endpoint calls the model."""
    key: Annotated[str, AfterValidator(_variable)] = ""
    """The variable of the environment that holds the key; none for endpoints without one."""
    api: Literal["chat", "completions"] = CHAT
    """Whether messages or plain text are sent."""
    parallel: Annotated[int, Field(ge=1, le=512)] = 8
    """Calls at once."""
    per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """The most calls in a minute; 0 is no limit."""
    timeout: Positive = 120.0
    """Seconds until a call without an answer is tried again."""
    tries: Annotated[int, Field(ge=1, le=100)] = 6
    """How often a call that fails is tried; waiting for a busy endpoint is no try."""
    patience: Positive = 900.0
    """Seconds without any answer after which the run stops; the same command resumes it."""


@dataclass(frozen=True)
class Prompt(Section):
    """What is sent for each item."""

    template: str
    """The text; `{column}` is replaced by what the item says there."""
    system: str = ""
    """A message that comes first, in chats."""


@dataclass(frozen=True)
class Decoding(Section):
    """How the model is to answer."""

    temperature: Annotated[float, Field(ge=0, le=10)] = 0.0
    """0 for the likeliest answer."""
    max_tokens: Annotated[int, Field(ge=1, le=MILLION)] = 512
    """The most tokens of an answer."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The share of probability that is sampled from."""
    seed: Annotated[int, Field(ge=-1, le=2**31)] = -1
    """Sent with every call, plus the number of the repeat; -1 sends none."""
    stop: tuple[str, ...] = ()
    """Texts at which an answer ends."""


@dataclass(frozen=True)
class AnswerRule(Section):
    """How the answer is taken out of what the model wrote."""

    pattern: Pattern = ""
    """The last match counts, its first group if it has one; without a pattern the whole text does."""
    refusal: Pattern = ""
    """What a text that refuses to answer matches; a refusal that the endpoint marks counts too."""


@dataclass(frozen=True)
class Price(Section):
    """What a million tokens cost."""

    input: NotNegative = 0.0
    """A million tokens of the prompt."""
    output: NotNegative = 0.0
    """A million tokens of the answer."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    """Three capitals of ISO 4217."""


@dataclass(frozen=True)
class Budget(Section):
    """Where a run stops; 0 is no limit. What was paid counts over all calls of the run, also after a restart."""

    cost: NotNegative = 0.0
    """The most that a run may cost."""
    tokens: Annotated[int, Field(ge=0)] = 0
    """The most tokens, of prompts and answers together."""
    calls: Annotated[int, Field(ge=0)] = 0
    """The most calls that are answered."""


@dataclass(frozen=True)
class System(Section):
    """A language model with its prompt, as a system that is evaluated."""

    name: Name
    """What the system is called in results."""
    endpoint: Endpoint
    """Where the model is asked."""
    prompt: Prompt
    """What is sent."""
    decoding: Decoding = field(default_factory=Decoding)
    """How it is to answer."""
    answer: AnswerRule = field(default_factory=AnswerRule)
    """How the answer is read."""
    price: Price = field(default_factory=Price)
    """What tokens cost."""
    budget: Budget = field(default_factory=Budget)
    """Where the run stops."""
    repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    """How often each item is asked."""
    sealed: bool = False
    """Whether items are sealed: no prompt is written or shown, and no message of the endpoint, which may repeat one."""

    def check(self, table: Table) -> Self:
        """The system, with what must fit together reported."""
        if self.budget.cost and not (self.price.input or self.price.output):
            fix = "write [price] with input and output, for a million tokens each"
            table.add("a budget of cost needs prices", fix, key=("budget", "cost"))
        if not self.columns and self.prompt.template:
            fix = "write {column} where a column of the item belongs"
            table.add("the template asks the same of every item", fix, key=("prompt", "template"))
        if self.prompt.system and self.endpoint.api == COMPLETIONS:
            table.add("plain completions have no system message", "put it into the template", key=("prompt", "system"))
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the template names."""
        return tuple(dict.fromkeys(name for name in COLUMN.findall(self.prompt.template) if name))

    @property
    def identity(self) -> str:
        """A digest of all that can change an answer: with another one a run is another run."""
        endpoint = {name: getattr(self.endpoint, name) for name in ("url", "model", "api")}
        return canonical_digest(
            {"endpoint": endpoint, "prompt": asdict(self.prompt), "decoding": asdict(self.decoding)}
        )


@dataclass(frozen=True)
class SystemTable(Table):
    """One table of a system's file."""

    rule: ClassVar[str] = RULE
    whole_file: ClassVar[str] = "the system"


def read_system(path: Path, findings: Findings) -> System | None:
    """The system of a file; None with problems where anything is wrong."""
    found = Findings(limit=None)
    try:
        text = read_bounded(path, LARGEST).decode()
    except UnicodeDecodeError:
        TomlReport(path.name, RULE, findings).add("the file is not UTF-8", "save it as UTF-8")
        return None
    document: Mapping[str, Any] | None = parse_toml(text, KIND, TomlReport(path.name, RULE, found))
    system: System | None = None
    if document is not None:
        system = read_section(System, SystemTable(document, (), path.name, entry_lines(text), found))
    findings.extend(dict.fromkeys(found))
    return system if found.valid else None
