"""Tiny retrieval evaluations on disk: truth and answers as tables, files as a team would send them."""

import io
import tarfile

import numpy as np

DOCUMENT = "MATERIAL_BASE-{language}_{number:08}"


def documents(count, language="1A"):
    return [DOCUMENT.format(language=language, number=10_000_000 + 7 * number) for number in range(count)]


def queries(count):
    return [f"query{number:05}" for number in range(1, count + 1)]


def confidence(score):
    """A whole number of hundred-thousandths as the shortest text that M29 allows."""
    text = f"{score / 100_000:.5f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def letter(flag):
    return "Y" if flag else "N"


def key_files(relevant, language="1A"):
    """One file for each row of a table of queries x documents."""
    table = np.asarray(relevant, dtype=bool)
    names = documents(table.shape[1], language)
    lines = ("".join(f"{name}\t{letter(flag)}\n" for name, flag in zip(names, row, strict=True)) for row in table)
    return {f"{query}.tsv": text.encode() for query, text in zip(queries(len(table)), lines, strict=True)}


def answer_files(returned, score, language="1A"):
    """One file for each row of two tables of queries x documents."""
    table, scores = np.asarray(returned, dtype=bool), np.asarray(score)
    names = documents(table.shape[1], language)
    return {
        f"{query}.tsv": "".join(
            f"{name}\t{letter(flag)}\t{confidence(int(number))}\n"
            for name, flag, number in zip(names, row, numbers, strict=True)
        ).encode()
        for query, row, numbers in zip(queries(len(table)), table, scores, strict=True)
    }


def written(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def packed(path, files):
    """The same files as an archive, in the order given."""
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def run(tmp_path, relevant, returned, score=None, *, language="1A"):
    """The key and the submission of one system as folders, ready to be handed to `basanite.score`."""
    table = np.asarray(returned, dtype=bool)
    scores = np.where(table, 80_000, 20_000) if score is None else np.asarray(score)
    return {
        "reference": written(tmp_path / "key", key_files(relevant, language)),
        "submission": written(tmp_path / "Alpha", answer_files(table, scores, language)),
    }


def changed(folder, name, old, new, *, times=-1):
    """Change the bytes of one file of a folder."""
    path = folder / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, times))
