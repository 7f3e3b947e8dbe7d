"""The example `examples/judged`: two systems, a judge on loopback with a known bias, and simulated people."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.running import here
from tests.models.loopback_model import LoopbackModel, serving

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "judged"
RULES = runpy.run_path(str(EXAMPLE / "judge.py"))


def answer_of(model):
    """What the judge replies to a prompt."""

    def answer(prompt):
        question, text = (
            re.search(rf"<{name}-\w+>\n(.*?)\n</{name}", prompt, re.DOTALL)[1] for name in ("query", "text")
        )
        return RULES["verdict"](model, question, text)

    return answer


def judge_file(folder, url, model="lenient-judge", more=""):
    """The file of the judge, with the address of an endpoint."""
    text = (EXAMPLE / "judge.toml").read_text().replace("http://127.0.0.1:8000/v1", url).replace("lenient-judge", model)
    (folder / "judge.toml").write_text(text + more)


def made_example(folder):
    """A folder with the answers of both systems, the scheme and the judge."""
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    script(folder, "make.py", ".")
    return folder


def script(folder, *words):
    """Run a script of the example."""
    subprocess.run([sys.executable, *words], cwd=folder, check=True, timeout=300)


def judged_example(folder):
    """The same after the judge and people have judged: `judge`, `sample` and `people.csv`."""
    made_example(folder)
    with serving(LoopbackModel(answer=answer_of("lenient-judge"))) as model:
        judge_file(folder, model.url)
        command = (
            "judge",
            "by-model",
            "scheme.toml",
            "--items",
            "answers.csv",
            "--system",
            "judge.toml",
            "--out",
            "judge",
        )
        ended = here(*command, cwd=folder)
        assert ended.code == 0, ended.stderr
    assert (
        here("judge", "sample", "answers.csv", "--people", "120", "--by", "kind", "--out", "sample", cwd=folder).code
        == 0
    )
    script(folder, "people.py", "sample/people.csv", "people.csv")
    return folder
