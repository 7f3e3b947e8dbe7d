"""Files of other programs, and ours made of them, for the examples in the help of `convert`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.running import IMPORT, SPEECH, here


def foreign_files(folder: Path) -> None:
    """Put them into a folder."""
    shutil.copytree(IMPORT, folder, dirs_exist_ok=True)
    for name, copy in (("reference.stm", "reference.stm"), ("Alpha.ctm", "heard.ctm")):
        shutil.copyfile(SPEECH / name, folder / copy)
    for words in (
        ("wmt", "newstest.xml", "--out", "made"),
        ("stm", "reference.stm", "--out", "made/spoken.jsonl"),
        ("ctm", "heard.ctm", "--reference", "reference.stm", "--out", "made/heard.jsonl"),
        ("trec-eval", "trec_eval.txt", "--out", "ranking.json"),
        ("sacrebleu", "sacrebleu.json", "--out", "translation.json"),
    ):
        assert here("convert", *words, cwd=folder).code == 0
    for name in ("source.jsonl", "reference.jsonl", "systems/Alpha.jsonl"):
        shutil.copyfile(folder / "made" / name, folder / Path(name).name)
