"""Small logs in the layouts of inspect_ai and lm-evaluation-harness, written by hand for tests."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from itertools import product

PLAN = {"steps": [{"solver": "prompt_template", "params": {"template": "Answer: {prompt}"}}, {"solver": "generate"}]}


def sample(name, epoch=1, right=True, **more):
    """What an archive says of one sample."""
    return {
        "id": name,
        "epoch": epoch,
        "input": f"What is {name}?",
        "target": "x",
        "metadata": {"topic": "ab"[len(str(name)) % 2]},
        "scores": {"match": {"value": "C" if right else "I"}, "length": {"value": 0.25}},
        "model_usage": {"m": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}},
        "total_time": 1.5,
        **more,
    }


def header(samples, epochs=1, **more):
    """The header of a log of these samples."""
    spec = {
        "eval_id": "e",
        "run_id": "r",
        "task": "sums",
        "task_id": "t",
        "task_version": more.pop("version", 1),
        "dataset": {"name": "sums", "sample_ids": list(dict.fromkeys(one["id"] for one in samples))},
        "config": {"epochs": epochs},
        "scorers": [{"name": "match"}, {"name": "length"}],
        "model": more.pop("model", "none/none"),
    }
    plan = {"plan": PLAN, **more}
    return {"version": 2, "status": "success", "eval": spec, **plan}


def inspect_json(path, samples, **more):
    """A log in one JSON text."""
    path.write_text(json.dumps({**header(samples, **more), "samples": samples}, indent=1))
    return path


def inspect_eval(path, samples, *, summaries=True, **more):
    """An archive; without summaries, as a run leaves it that was killed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members(samples, summaries=summaries, **more).items():
            archive.writestr(name, text)
    return path


def members(samples, *, summaries=True, **more):
    """The texts of an archive by the names of its members."""
    whole = header(samples, **more)
    started = {name: whole[name] for name in ("version", "eval", "plan")}
    texts = {"_journal/start.json": started}
    texts |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": {**one, "messages": []} for one in samples}
    texts["_journal/summaries/1.json"] = samples[: len(samples) // 2]
    if summaries:
        texts |= {"summaries.json": samples, "header.json": whole}
    return {name: json.dumps(text) for name, text in texts.items()}


def zstandard_eval(path, samples, pack):
    """An archive whose members are packed by method 93, which Python's own module does not write."""
    out, directory = b"", b""
    for name, text in members(samples).items():
        data = text.encode()
        packed = pack(data)
        fields = struct.pack("<HHHHHLLLHH", 20, 0, 93, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
        where = struct.pack("<HHHLL", 0, 0, 0, 0, len(out))
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + fields + where + name.encode()
        out += b"PK\x03\x04" + fields + name.encode() + packed
    count = len(members(samples))
    end = struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(out), 0)
    path.write_bytes(out + directory + end)
    return path


def lm_eval_samples(path, scores, *, prompt="p", filters=("none",)):
    """Samples of one task: the metrics of each document under each filter."""
    rows = [
        {
            "doc_id": at,
            "doc": {"question": str(at)},
            "target": "x",
            "arguments": {},
            "resps": [["y"]],
            "filtered_resps": ["y"],
            "filter": name,
            "metrics": list(one),
            "prompt_hash": f"{prompt}{at}",
            **one,
        }
        for at, one in enumerate(scores)
        for name in filters
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def promptfoo(path, passed, *, repeat=1, prompts=("Ask {{question}}",)):
    """Results of promptfoo: `passed[provider][test]`, in the layout of version 3; lines of cells in a `.jsonl`."""
    results = [
        {
            "provider": {"id": provider, "label": ""},
            "prompt": {"raw": prompt.replace("{{question}}", f"What is {at}?"), "label": prompt},
            "promptIdx": column,
            "testIdx": at,
            "vars": {"question": f"What is {at}?"},
            "testCase": {"vars": {"question": f"What is {at}?"}, "metadata": {"topic": "ab"[at % 2]}},
            "score": float(right),
            "success": bool(right),
            "namedScores": {"tone": 0.5},
            "latencyMs": 250,
            "cost": 0.01,
            "tokenUsage": {"total": 30},
            "failureReason": 0 if right else 1,
        }
        for _ in range(repeat)
        for column, (provider, prompt) in enumerate(product(passed, prompts))
        for at, right in enumerate(passed[provider])
    ]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(cell) + "\n" for cell in results))
        return path
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "prompts": [], "results": results}}))
    return path


def deepeval(path, scores, *, wrapped=False):
    """A test run of DeepEval."""
    cases = [
        {
            "name": f"case {at}",
            "input": f"What is {at}?",
            "success": score > 0.5,
            "completionTime": 2.0,
            "metricsData": [{"name": "Relevancy", "score": score, "threshold": 0.5}, {"name": "Bias", "score": 1.0}],
        }
        for at, score in enumerate(scores)
    ]
    run = {"testCases": cases, "conversationalTestCases": []}
    path.write_text(json.dumps({"testRunData": run} if wrapped else run))
    return path


def every_eval(path, scores, *, model="lab/m"):
    """Samples of Every Eval Ever."""
    rows = [
        {
            "schema_version": "0.2.1",
            "evaluation_id": "e",
            "model_id": model,
            "evaluation_name": "sums",
            "sample_id": f"s{at}",
            "interaction_type": "single_turn",
            "input": {"raw": f"What is {at}?", "reference": ["x"]},
            "output": {"raw": ["x"]},
            "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score > 0.5},
            "performance": {"latency_ms": 500},
            "token_usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        }
        for at, score in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
