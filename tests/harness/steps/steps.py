"""Small real steps for tests of the engine, and a program that waits in one of them until it is killed."""

import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from basanite.harness.steps.graph import Step, run
from basanite.harness.steps.store import Store


def numbers(count, log=None):
    told(log, "numbers")
    return {"values": np.arange(count, dtype=float), "words": {"count": count}}


def squared(source, log=None):
    told(log, "squared")
    while log and Path(f"{log}.hold").exists():
        time.sleep(0.01)
    return {"values": source["values"] ** 2, "matrix": scipy.sparse.csr_array(np.diag(source["values"]))}


def total(one, two, log=None):
    told(log, "total")
    return {"sum": float(one["values"].sum() + two["values"].sum())}


def broken(source, log=None):
    raise ValueError("this learner cannot learn")


def told(log, name):
    if log:
        with Path(log).open("a") as file:
            file.write(name + "\n")


def graph(log=None, count=5):
    first = Step("numbers", numbers, parameters={"count": count})
    second = Step("squared", squared, {"source": first})
    third = Step("total", total, {"one": first, "two": second})
    return [with_log(step, log) for step in (first, second, third)] if log else [first, second, third]


def with_log(step, log):
    inputs = {name: with_log(other, log) for name, other in step.inputs.items()}
    return Step(step.name, step.work, inputs, {**step.parameters, "log": log})


def main():
    root, log = sys.argv[1:]
    run(graph(log), Store(Path(root)))
