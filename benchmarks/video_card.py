"""One epoch of the autoencoder's first layer at the size of the published reviews, on an accelerator.

What it could take is known from the card's own rate of multiplying matrices of these shapes, measured in the same run;
the ratio is how much of that rate the training reaches.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse

from basanite.harness.modules.autoencoder import Layer, LayerTraining, Training
from basanite.harness.modules.torch_blocks import block_of, load_torch
from measuring import record, show

WORDS = 44
"""Words of a review, as published."""
BATCH = 4_096
GOALS = {"share of the card's matrix rate": (0.3, "at least"), "seconds an epoch": (10.0, "at most")}


def reviews(rows, columns):
    """Binary rows with as many words as reviews have, the earlier ones more often."""
    dice = np.random.default_rng(0)
    words = (columns * dice.random((rows, WORDS)) ** 3).astype(np.int32)
    ends = np.arange(rows + 1) * WORDS
    return scipy.sparse.csr_array((np.ones(words.size, np.float32), words.ravel(), ends), shape=(rows, columns))


def measure_epoch(rows, units):
    """Time an epoch in both precisions, and the matrix products alone."""
    torch = load_torch()
    device = torch.device("cuda")
    features, costs = reviews(rows, units), {}
    for precision in ("float32", "mixed"):
        training = Training(units=units, batch=BATCH, noise=0.8, loss="cross-entropy", precision=precision)
        dice = np.random.default_rng(1)
        fresh = Layer(dice.normal(0, 0.01, (units, units)).astype(np.float32), np.zeros(units, np.float32))
        costs[precision] = epoch(LayerTraining(training, fresh, device, seed=0), features, device)
    operations = 3 * 2 * 2 * rows * units * units  # two products forward, twice as many back
    rate = matrix_rate(units, torch, device)
    share = operations / rate / costs["mixed"]
    print(f"epoch: float32 {costs['float32']:.2f} s, mixed {costs['mixed']:.2f} s; card {rate / 1e12:.0f} TFLOP/s")
    found = {"share of the card's matrix rate": share, "seconds an epoch": costs["mixed"]}
    show(found, GOALS)
    size = {"rows": rows, "units": units, "batch": BATCH, "card": torch.cuda.get_device_name()}
    record("video_card.jsonl", size, {}, found, GOALS, seconds=costs, tflops=round(rate / 1e12, 1))


def epoch(training, features, device):
    """Seconds of one pass over all rows, after a few steps to warm up."""
    torch = load_torch()
    for _ in range(3):
        training.step(block_of(features, slice(0, BATCH), device))
    torch.cuda.synchronize()
    start = time.perf_counter()
    for at in range(0, features.shape[0], BATCH):
        training.step(block_of(features, slice(at, at + BATCH), device))
    torch.cuda.synchronize()
    return time.perf_counter() - start


def matrix_rate(units, torch, device, repeat=20):
    """Operations a second of a product of the training's shape, in bfloat16."""
    one = torch.randn(BATCH, units, device=device, dtype=torch.bfloat16)
    two = torch.randn(units, units, device=device, dtype=torch.bfloat16)
    for _ in range(3):
        one @ two
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(repeat):
        one @ two
    torch.cuda.synchronize()
    return 2 * BATCH * units * units * repeat / (time.perf_counter() - start)
