"""Readers of single formats: archives, tables, packs, names, headers, pictures, features."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from tests.fuzz.target import Target, example, shown

from basanite.formats.archives.archive import open_source
from basanite.formats.archives.archive_names import parse_name
from basanite.formats.archives.members import Member
from basanite.formats.class_files import read_classes
from basanite.formats.datasets.audio_headers import parse_header
from basanite.formats.datasets.domains import load_domains
from basanite.formats.datasets.usage_rules import load_usage_rules
from basanite.formats.factors import read_factors
from basanite.formats.features import check, read_features
from basanite.formats.inspection import inspect_path
from basanite.formats.rating_matrix import read_matrix
from basanite.formats.records import Place, read_records
from basanite.formats.retrieval.image_header import check_image
from basanite.formats.retrieval.judgements import read_judgements
from basanite.formats.retrieval.query_language import parse
from basanite.formats.retrieval.query_packs import read_query_pack
from basanite.formats.retrieval.summary_metadata import read_summary, summary_rules
from basanite.formats.texts.glm import Glm
from basanite.formats.texts.normalisers import read_mapper
from basanite.formats.texts.trees import read_parameters
from basanite.formats.unit_tables import is_unit_table, read_unit_tables
from basanite.problems import Findings

BASE = "FLAIR.MySystem1.query123.MATERIAL_BASE-1A_12345678"
SUMMARY = {
    "team_id": "FLAIR", "sys_label": "MySystem1", "uuid": "dc91049e-d934-40d7-a175-5af32cbabbca",
    "query_id": "query123",
    "document_id": "MATERIAL_BASE-1A_12345678", "run_name": "dummy1", "run_date_time": "2018-03-27T13:51:00-05:00",
    "image_filename": f"{BASE}.jpg", "content_list": ["secret payment", "panel"],
    "instructions": {"general": "<b>look</b> <i>here</i>"},
}  # fmt: skip
CROWD = (
    b"HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.document,Answer.comment,Answer.verdict\n"
    b'H1,T,A1,W1,Approved,query123,MATERIAL_BASE-1A_12345678,"a, b",R\n'
    b"H1,T,A2,W2,Submitted,query123,MATERIAL_BASE-1A_12345678,,N\n"
)  # fmt: skip
QUERIES = [
    b'bribing+,"panel of judges"', b"boxing+[evf:sports]", b'bank[syn:shore],"fishing boat"', b"music",
    b'"(three old) <boats> sank[syn:went down]"', b"EXAMPLE_OF(farm animal)[evf:farming]",
]  # fmt: skip
PACK = b'query_id\tquery_string\tdomain_id\nquery00001\tmusic\tLIF\nquery00002\tbribing+,"panel of judges"\tGOV\n'
NAME = b"FLAIR_CLIR-primary-unconstrained-QUERY1-MySystem1_BASE-1A-EVAL1_20180514_090000.tgz"
SHIPPED = Path(__file__).resolve().parent.parent.parent / "src" / "basanite" / "formats" / "datasets"
Read = Callable[[bytes, Path], object]


GLM = b"* name 'x'\nUH => %HES / [ ] __ [ ]\n[HE'S] => [{HE IS / HE HAS}] / [ ] __ [ ]\nSOME => ANY\n"


CLASSES = [b"y_true,y_pred,score\n1,1,0.75\n0,1,0.5\n", b"id,label,p_a,p_b\n1,a,0.75,0.25\n", b"a\nb\nb\n"]


KINDS = [
    b"( (S\n  (NP (DT the))\n  (VP (VBD sat)) ))\n", b"1 Q0 d1 1 2.5 t\n", b"the cat (s-1)\na dog (s-2)\n",
    b"id,label\n1,\"a\nb\"\n", b"\\data\\\nngram 1=3\n", b'format = "basanite-plan/1"\n', b"@prefix a: <http://b/> .\n",
    b"file a: 3 sentences, 4 words, 0 OOVs\n", b"rec A 0.0 0.3 the 0.9\n", b"1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n",
]  # fmt: skip
UNITS = [b"unit,system,metric,value\nu1,A,m,0.5\nu1,B,m,\n", b'{"unit":"u","system":"A","metric":"m","value":1}\n']


def targets() -> list[Target]:
    """All of them."""
    return [
        Target("inspect text", "text", lambda: KINDS, _inspect),
        Target("inspect json", "json", example("captions/Alpha.json", "receipts/keys.json"), _inspect),
        Target("inspect archive", "tgz", example("clir/Alpha.tgz"), _inspect, 3),
        Target("inspect parquet", "binary", _parquet, _inspect),
        Target("inspect arrays", "zip", example("features/digits.npz"), _inspect),
        Target("table of units", "text", lambda: UNITS, _units),
        Target("archive", "tgz", example("clir/Alpha.tgz", "e2e/Alpha.tgz"), _archive, 3),
        Target("records csv", "text", example("classification/Alpha.csv"), _records(".csv")),
        Target("records tsv", "text", example("clir/metadata/queries.tsv"), _records(".tsv")),
        Target("records jsonl", "ndjson", example("translation/Alpha.jsonl"), _records(".jsonl")),
        Target("classes", "text", lambda: CLASSES, _classes),
        Target("classes npz", "zip", _class_arrays, _classes),
        Target("matrix of ratings", "text", lambda: [b"1 2 3\n2 2 NA\n", b"item,a,b\n1,2,3\n2,2,2\n"], _matrix),
        Target("records parquet", "binary", _parquet, _records(".parquet")),
        Target("factors", "text", example("clir/metadata/documents.tsv", "clir/metadata/queries.tsv"), _factors),
        Target("query language", "text", lambda: QUERIES, lambda data, _: parse(data.decode("utf-8", "replace"))),
        Target("query pack", "text", lambda: [PACK], _query_pack),
        Target("archive name", "text", lambda: [NAME], lambda data, _: parse_name(data.decode("utf-8", "replace"))),
        Target("audio header", "binary", _audio, lambda data, _: parse_header(data[:4096], len(data))),
        Target("image header", "binary", _images, lambda data, _: shown(check_image("a.png", data))),
        Target("picture", "binary", _images, _picture),
        Target("summary", "json", lambda: [json.dumps(SUMMARY).encode()], _summary),
        Target("crowd judgements", "text", lambda: [CROWD], _judgements),
        Target("domains", "text", lambda: [(SHIPPED / "domains.toml").read_bytes()], _file(".toml", load_domains)),
        Target(
            "usage", "text", lambda: [(SHIPPED / "usage_rules.toml").read_bytes()], _file(".toml", load_usage_rules)
        ),
        Target("evalb parameters", "text", example("parsing/usual.prm"), _parameters),
        Target("mapping of words", "text", example("speech/mapping.glm"), _mapper),
        Target("global mapping file", "text", lambda: [GLM], _mapper),
        Target("features csv", "text", example("features/pens.csv"), _features(".csv")),
        Target("features npz", "zip", example("features/monday.npz"), _features(".npz")),
        Target("features npy", "binary", _arrays, _features(".npy")),
        Target("features parquet", "binary", _feature_table, _features(".parquet")),
        Target("features zarr", "json", _zarr_heads, _zarr, 4),
    ]


def _archive(data: bytes, place: Path) -> None:
    (place / "sent.tgz").write_bytes(data)
    for depth in (1, 2):
        findings = Findings()
        for member in open_source(place / "sent.tgz", depth=depth).members(findings):
            len(member.data)
        shown(findings)


def _class_arrays() -> list[bytes]:
    out = io.BytesIO()
    np.savez(out, y_true=np.arange(3), y_pred=np.array(["a", "b", "c"]), y_proba=np.eye(3), classes=np.arange(3))
    return [out.getvalue()]


def _classes(data: bytes, place: Path) -> None:
    (place / "classes").write_bytes(data)
    for side in ("truth", "answers", "both"):
        findings = Findings()
        read_classes(place / "classes", side, Place("submission", "T-22"), findings)
        shown(findings)


def _matrix(data: bytes, place: Path) -> None:
    (place / "matrix").write_bytes(data)
    for judges in ("columns", "rows"):
        findings = Findings()
        read_matrix(place / "matrix", judges, Place("judgements", "S-20"), findings)
        shown(findings)


def _records(ending: str) -> Read:
    def read(data: bytes, place: Path) -> None:
        path, findings = place / f"table{ending}", Findings()
        path.write_bytes(data)
        found = read_records(path, Place("submission", "F-1"), findings)
        for row in range(len(found.lines)) if found is not None else ():
            found.fields(row)
        shown(findings)

    return read


def _file(ending: str, read_path: Callable[[Path, Findings], object]) -> Read:
    def read(data: bytes, place: Path) -> None:
        path, findings = place / f"file{ending}", Findings()
        path.write_bytes(data)
        read_path(path, findings)
        shown(findings)

    return read


_factors = _file(".tsv", read_factors)
_query_pack = _file(".tsv", read_query_pack)


def _summary(data: bytes, place: Path) -> None:
    findings = Findings()
    read_summary(f"query123/{BASE}.json", data, summary_rules(), findings)
    shown(findings)


def _judgements(data: bytes, place: Path) -> None:
    findings = Findings()
    for name in ("judgements.csv", "judgements.tsv"):
        read_judgements(data, name, findings, key=b"0123456789abcdef")
    shown(findings)


def _parameters(data: bytes, place: Path) -> None:
    (place / "usual.prm").write_bytes(data)
    read_parameters(place / "usual.prm")


def _mapper(data: bytes, place: Path) -> None:
    findings = Findings()
    (place / "mapping.glm").write_bytes(data)
    rules = read_mapper(place / "mapping.glm", findings, name="english", rule="T-7")
    if isinstance(rules, Glm):
        rules.rewrite("some words here", heard=True)
    else:
        rules("some words here")
    shown(findings)


def _features(ending: str) -> Read:
    def read(data: bytes, place: Path) -> None:
        path = place / f"set{ending}"
        path.write_bytes(data)
        np.save(place / "labels.npy", np.arange(6) % 2)
        found = read_features(path)
        shown(check(found))
        for features, labels in found.batches(5):
            assert len(features) <= 5 >= len(labels)

    return read


def _parquet() -> list[bytes]:
    out = io.BytesIO()
    pl.DataFrame({"id": ["a", "b", "c"], "text": ["x", None, "z"], "value": [1.0, 2.0, float("nan")]}).write_parquet(
        out
    )
    return [out.getvalue()]


def _feature_table() -> list[bytes]:
    out = io.BytesIO()
    pl.DataFrame({"label": [0, 1, 0, 1], "a": [1.0, 2.0, 3.0, 4.0], "b": [0.5, 0.1, 0.2, 0.9]}).write_parquet(out)
    return [out.getvalue()]


def _arrays() -> list[bytes]:
    made = []
    for array in (
        np.arange(24.0).reshape(6, 4),
        np.asfortranarray(np.ones((6, 3), np.float32)),
        np.array(["a", "bc"] * 3),
    ):
        out = io.BytesIO()
        np.save(out, array)
        made.append(out.getvalue())
    return made


def _zarr_heads() -> list[bytes]:
    import tempfile

    import zarr

    with tempfile.TemporaryDirectory() as folder:
        zarr.save_array(f"{folder}/a.zarr", np.arange(24.0).reshape(6, 4))
        return [(Path(folder) / "a.zarr" / "zarr.json").read_bytes()]


def _zarr(data: bytes, place: Path) -> None:
    """A store whose head is a stranger's: what it says of shape, type and codecs."""
    import shutil

    import zarr

    root = place / "set.zarr"
    shutil.rmtree(root, ignore_errors=True)
    group = zarr.open_group(str(root), mode="w")
    group.create_array("features", data=np.arange(24.0).reshape(6, 4))
    group.create_array("labels", data=np.arange(6) % 2)
    (root / "features" / "zarr.json").write_bytes(data)
    found = read_features(root)
    shown(check(found))


def _audio() -> list[bytes]:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(320))
    head = (
        "NIST_1A\n   1024\nsample_count -i 160\nsample_n_bytes -i 2\nchannel_count -i 1\nsample_rate -i 8000\n"
        "sample_coding -s3 pcm\nend_head\n"
    )
    return [out.getvalue(), head.encode().ljust(1024) + bytes(320)]


def _images() -> list[bytes]:
    made = []
    for kind, mode in (("PNG", "RGBA"), ("JPEG", "RGB"), ("PNG", "P")):
        out = io.BytesIO()
        Image.new(mode, (24, 16)).save(out, kind)
        made.append(out.getvalue())
    return made


def _picture(data: bytes, place: Path) -> None:
    from basanite.campaign.jobs.summaries import plain_picture

    for ending in ("png", "jpg"):
        plain_picture(Member(f"query123/{BASE}.{ending}", data))


def _inspect(data: bytes, place: Path) -> None:
    (place / "f").write_bytes(data)
    json.dumps(inspect_path(place / "f").as_dict(), allow_nan=False).encode()


def _units(data: bytes, place: Path) -> None:
    (place / "u").write_bytes(data)
    is_unit_table(place / "u")
    findings = Findings()
    read_unit_tables([place / "u"], findings)
    shown(findings)
