"""The commands of `basanite measure` that start from models: features of their layers, and whole studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from basanite.canonical import dumps
from basanite.cli.options import (
    PATH,
    as_json,
    check_places,
    check_reports,
    example,
    run_or_exit,
    show_report,
    write_reports,
)
from basanite.cli.terminal import Counted
from basanite.errors import SettingError
from basanite.extras import named_extras
from basanite.reports.wording import plural

if TYPE_CHECKING:
    from basanite.representation.extraction.feature_file import Extracted
    from basanite.representation.extraction.inputs import InputSet
    from basanite.representation.extraction.model_folder import LocalModel

FORMAT = "basanite-extract/1"
ONE_CLASS = "All inputs are of one class; measures compare at least two. Is this the folder that holds the classes?"


@click.command(epilog=example("basanite measure extract --model digits.onnx --list-layers"))
@click.option(
    "--model", "folder", type=PATH, required=True, help="A folder of weights, or an .onnx or TorchScript file."
)
@click.option("--data", type=PATH, help="A folder with one folder for each class, or a table of texts.")
@click.option("--layer", "layers", multiple=True, metavar="NAME", help="A layer, or `output`. Can be repeated.")
@click.option("--out", type=PATH, help="The .npz file to write; with several layers, OUT-LAYER.npz for each.")
@click.option(
    "--pool",
    type=click.Choice(("mean", "cls", "flatten")),
    default="mean",
    show_default=True,
    help="What of places or tokens: their mean (without padding), the first token, or all of them.",
)
@click.option(
    "--layout",
    type=click.Choice(("auto", "channels-first", "channels-last", "tokens")),
    default="auto",
    show_default=True,
    help="Which axis of an output holds the features.",
)
@click.option("--batch", type=click.IntRange(1, 4096), default=32, show_default=True, help="Inputs at a time.")
@click.option("--labels", type=PATH, help="A table `id,label` for files that are not in folders of classes.")
@click.option("--text-column", metavar="NAME", help="The column of the texts. [default: text, sentence, review, …]")
@click.option("--label-column", metavar="NAME", help="The column of the labels. [default: label, class, target, …]")
@click.option("--architecture", metavar="NAME", help="The architecture of torchvision, where no file names it.")
@click.option("--probabilities", is_flag=True, help="Also store what the model's head says, for LEEP.")
@click.option("--list-layers", is_flag=True, help="List the layers of the model, and stop.")
@as_json
def extract(
    folder: Path,
    data: Path | None,
    layers: tuple[str, ...],
    out: Path | None,
    pool: str,
    layout: str,
    batch: int,
    labels: Path | None,
    text_column: str | None,
    label_column: str | None,
    architecture: str | None,
    probabilities: bool,
    list_layers: bool,
    as_json: bool,
) -> None:
    """Take features of layers of a local model from pictures or texts, and write them for the other commands.

    Models are folders of Hugging Face, timm or torchvision with safetensors, ONNX graphs or TorchScript. Nothing is
    downloaded, and no Python code or pickle of a folder is run.
    """
    from basanite.representation.extraction.feature_file import layer_paths, write_features
    from basanite.representation.extraction.inputs import Columns, open_inputs
    from basanite.representation.extraction.model_folder import open_model
    from basanite.representation.extraction.pooling import Reading

    with named_extras():
        model = open_model(folder, architecture=architecture)
        if list_layers:
            click.echo(dumps({"layers": list(model.layers)}) if as_json else "\n".join(model.layers))
            return
        if data is None or out is None or not layers:
            raise SettingError("Give --data, --out and at least one --layer. --list-layers names the layers.")
        paths = layer_paths(out, layers)
        check_places(list(paths.values()), (folder, data))
        progress = Counted()

        def work() -> tuple[InputSet, list[Extracted]]:
            columns = Columns(text_column, label_column)
            inputs = open_inputs(data, model.takes, labels=labels, columns=columns)
            reading = Reading(pool, layout)  # type: ignore[arg-type]
            return inputs, write_features(
                model,
                inputs,
                paths,
                reading=reading,
                batch=batch,
                probabilities=probabilities,
                progress=lambda done, total: progress(model.takes, done, total),
            )

        inputs, found = run_or_exit(work, json=as_json)
    progress.close()
    made = _extract_object(model, inputs, found, pool)
    click.echo(dumps(made) if as_json else "\n".join(_lines(made)))


@click.command(epilog=example("basanite measure study study-small.toml"))
@click.argument("study", type=PATH)
@click.option("--out", type=PATH, help="The folder of the result. [default: STUDY-result beside the file]")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .pptx .json …")
@as_json
def study(study: Path, out: Path | None, reports: tuple[Path, ...], as_json: bool) -> None:
    """Run STUDY: several models on several sets of pictures, proxies, all measures, correlations and a shift.

    A study that was stopped goes on where it was; what is in its folder is not made again.
    """
    from basanite.representation.study.run import run_study
    from basanite.representation.study.study_report import study_report

    check_reports(reports, (study,))
    place = out or study.with_name(f"{study.stem}-result")
    progress = Counted()
    with named_extras():
        found = run_or_exit(lambda: run_study(study, place, progress), json=as_json, plain=True)
    progress.close()
    report = study_report(found)
    write_reports(report, reports)
    show_report(report, json=as_json)


def _extract_object(model: LocalModel, inputs: InputSet, found: list[Extracted], pool: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "model": {"kind": model.kind, "name": model.name, "digest": model.digest, "versions": dict(model.versions)},
        "data": {"name": inputs.name, "rows": len(inputs), "classes": len(set(inputs.labels)), "takes": inputs.kind},
        "pool": pool,
        "layers": [
            {
                "layer": one.layer,
                "file": str(one.path),
                "rows": one.rows,
                "dimensions": one.dimensions,
                "flags": list(one.flags),
            }
            for one in found
        ],
        "notes": [*model.notes, *(() if len(set(inputs.labels)) > 1 else (ONE_CLASS,))],
    }


def _lines(made: dict[str, Any]) -> list[str]:
    model, data = made["model"], made["data"]
    versions = ", ".join(f"{name} {number}" for name, number in model["versions"].items())
    lines = [
        f"{model['name']} ({model['kind']}; {versions})",
        f"{data['name']}: {plural('input', data['rows'])} in {plural('class', data['classes'])}",
    ]
    for one in made["layers"]:
        lines.append(f"{one['layer']}: {plural('feature', one['dimensions'])} a row, in {one['file']}")
        lines += [f"  Note: {flag}" for flag in one["flags"]]
    return [*lines, *(f"Note: {note}" for note in made["notes"])]
