"""The extras: what can be installed beside the base, and which modules each brings (Y-4).

A module that is missing is named by what it was needed for and by the line to type, the same wherever it is missed.
Entry points that people use (commands, functions of `import basanite`, plug-ins by name) turn the error of Python into
ours, so that code below them imports what it needs without a check of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from basanite.errors import MissingExtraError


@dataclass(frozen=True)
class Extra:
    """One part that can be installed: what it is for, and the modules that it brings beyond the base."""

    purpose: str
    modules: tuple[str, ...]

    def missing(self) -> tuple[str, ...]:
        """Its modules that are not installed here."""
        return tuple(module for module in self.modules if not _is_there(module))

    def brings(self, module: str) -> bool:
        """Whether it brings this top module or a part of it, such as `opentelemetry.sdk` of `opentelemetry`."""
        return any(one.partition(".")[0] == module for one in self.modules)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that the module is a part of
        return False


EXTRAS: Final[Mapping[str, Extra]] = {
    "parquet": Extra("Parquet files", ("polars",)),
    "tables": Extra("tables of pandas, polars, Arrow and Hugging Face in Python", ("narwhals",)),
    "charts": Extra("charts in reports that can be zoomed and filtered", ("vl_convert",)),
    "slides": Extra("reports as PowerPoint slides", ("pptx", "vl_convert")),
    "measure": Extra("measures of representations", ("scipy", "sklearn")),
    "harness": Extra(
        "learning evaluations",
        ("PIL", "av", "polars", "pptx", "scipy", "sklearn", "tomotopy", "vl_convert"),
    ),
    "reading": Extra("reasoning and graphs in machine reading", ("clingo", "pyoxigraph", "scipy")),
    "server": Extra(
        "running a campaign for teams",
        (
            "PIL",
            "aiosmtplib",
            "alembic",
            "anyio",
            "authlib",
            "dbos",
            "fastapi",
            "h11",
            "httpx2",
            "itsdangerous",
            "joserfc",
            "limits",
            "polars",
            "prometheus_client",
            "psycopg",
            "pwdlib",
            "pydantic_settings",
            "pyotp",
            "python_multipart",
            "scipy",
            "segno",
            "sqlalchemy",
            "starlette",
            "structlog",
            "tzdata",
            "uvicorn",
        ),
    ),
    "s3": Extra("a server's files in an object store", ("obstore",)),
    "dask": Extra("heavy work on a cluster", ("dask", "distributed")),
    "models": Extra("asking language models", ("httpx2",)),
    "inspect": Extra("logs of inspect_ai that are packed with Zstandard", ("numcodecs",)),
    "zarr": Extra("features in Zarr stores", ("zarr",)),
    "mlflow": Extra("results in MLflow", ("mlflow",)),
    "wandb": Extra("results in Weights & Biases", ("wandb",)),
    "opentelemetry": Extra("results in OpenTelemetry", ("opentelemetry.sdk", "opentelemetry.exporter")),
    "torch": Extra("tensors of PyTorch, features on a GPU, and learning with it", ("torch",)),
    "weights": Extra(
        "models from folders of weights",
        ("PIL", "onnxruntime", "safetensors", "timm", "torch", "torchvision", "transformers"),
    ),
}
"""In the order in which they are offered: of several extras with a module the first is named."""

AREAS: Final[Mapping[str, str]] = {
    "basanite.harness": "harness",
    "basanite.reading": "reading",
    "basanite.campaign": "server",
    "basanite.server": "server",
    "basanite.models": "models",
}
"""Parts of the source that have an extra of their own, which is named before smaller ones."""


def install_line(extra: str) -> str:
    """What to type for an extra; Basanite is installed, so no package of its name is searched on an index."""
    return f'pip install "basanite[{extra}]"'


def missing_extra(module: str, *, area: str = "") -> MissingExtraError:
    """The refusal for a missing module of an extra; that of an area, if it brings the module, else the first.

    >>> print(missing_extra("pptx"))
    pptx is not installed; it is needed for reports as PowerPoint slides. Fix: pip install "basanite[slides]"
    """
    top = module.partition(".")[0]
    holders = [name for name, extra in EXTRAS.items() if extra.brings(top)]
    extra = area if area in holders else holders[0]
    needed = f"{top} is not installed; it is needed for {EXTRAS[extra].purpose}"
    return MissingExtraError(f"{needed}. Fix: {install_line(extra)}")


def error_of_extra(missing: ModuleNotFoundError) -> MissingExtraError | None:
    """The refusal that names the extra, where a module of one was imported and is not there; None for any other."""
    top = (missing.name or "").partition(".")[0]
    if not any(extra.brings(top) for extra in EXTRAS.values()):
        return None
    return missing_extra(top, area=_area_of(missing))


def required_module(module: str) -> Any:
    """A module of an extra, or the refusal that names the extra."""
    with named_extras():
        return import_module(module)


@contextmanager
def named_extras() -> Iterator[None]:
    """Within this, the import of a module that an extra brings is refused with the extra's name."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (error := error_of_extra(missing)) is None:
            raise
        raise error from missing


def _area_of(missing: ModuleNotFoundError) -> str:
    """The extra of the innermost part of our source that was at work when the import failed."""
    found, trace = "", missing.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        found = next((extra for area, extra in AREAS.items() if module.startswith(area)), found)
        trace = trace.tb_next
    return found
