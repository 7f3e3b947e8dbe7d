"""The part of the representation benchmark that needs a card: agreement first, then all times, within four minutes.

Features are made on the card in class order, as the goals say. Times are the least of some runs, by the card's own
clock. Every launch shape of our kernels that is listed is tried, and one that fails is said and left out.
"""

from __future__ import annotations

import time

ROWS, DIMENSIONS, CLASSES = 1_281_167, 1536, 1000
GOALS = {
    "linear measures / one read": (3.0, "at most"),
    "fused sweep / plain sweep": (0.5, "at most"),
    "fused, off by (relative)": (1e-4, "at most"),
    "float64, off by (relative)": (1e-9, "at most"),
}
SWEEP_SECONDS = 60.0
"""A sweep that would take longer on all rows is timed on a part of them and scaled by the pairs."""


def on_card(asked):
    """Check, time, show and record."""
    import torch

    from measuring import RESULTS, met, show
    from representation import note

    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    found = agreement()
    rows = max(int(ROWS * asked.scale), 20_000)
    backend, data = placed(rows)
    costs = linear(backend, data, asked.repeat)
    found["linear measures / one read"] = costs["linear measures"] / costs["one read"]
    costs |= sweeps(data)
    found["fused sweep / plain sweep"] = costs["fused sweep"] / costs["plain sweep"]
    show(found, GOALS)
    size = {"rows": rows, "dimensions": DIMENSIONS, "classes": CLASSES, "device": torch.cuda.get_device_name()}
    note(RESULTS, size, found, costs, {name: met(GOALS[name], value) for name, value in found.items()})
    return 0


def agreement():
    """The largest relative difference from float64 on the CPU, fused and in float64, on data that a CPU can do."""
    import numpy as np

    from basanite.representation.backends.torch import TorchBackend
    from basanite.representation.measures.all_measures import Options, measure

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 30, 6000)
    features = (0.3 * rng.random((30, 512))[labels] + rng.random((6000, 512))).astype(np.float32)
    names = ["ferm1", "ferm2", "ferm3", "ferm4", "calinski_harabasz", "rs", "c_root_k", "davies_bouldin"]
    names += ["silhouette", "dunn", "point_biserial"]
    exact = measure(features, labels, names=names, options=Options(precision="float64")).values
    found = {}
    for title, precision, fused in (
        ("plain, off by (relative)", "float32", False),
        ("fused, off by (relative)", "float32", True),
        ("float64, off by (relative)", "float64", True),
    ):
        rows = features.astype(np.float64) if precision == "float64" else features
        backend = TorchBackend("cuda", fused=fused)
        ours = measure(rows, labels, names=names, backend=backend, options=Options(precision=precision)).values
        off = {name: abs(ours[name].value / exact[name].value - 1) for name in names}
        print(title, {name: f"{value:.1e}" for name, value in off.items()}, flush=True)
        found[title] = max(off.values())
    return {name: value for name, value in found.items() if name in GOALS}


def placed(rows):
    """Features on the card in class order, and the backend."""
    import numpy as np
    import torch

    from basanite.representation.backends.card import OnDevice
    from basanite.representation.backends.torch import TorchBackend
    from basanite.representation.measures.results import Classes

    torch.manual_seed(0)
    codes = np.sort(np.random.default_rng(0).integers(0, CLASSES, rows))
    classes = Classes(tuple(range(CLASSES)), codes.astype(np.int64))
    features = torch.empty((rows, DIMENSIONS), device="cuda").uniform_()
    centres = torch.rand((CLASSES, DIMENSIONS), device="cuda") * 0.3
    for start in range(0, rows, 1 << 16):
        features[start : start + (1 << 16)] += centres[torch.as_tensor(codes[start : start + (1 << 16)], device="cuda")]
    data = OnDevice(features, classes)
    _ = data.chunks, data.counts, data.codes
    return TorchBackend("cuda"), data


def clocked(name, work, repeat):
    """The least milliseconds of some runs on the card, after one that does not count."""
    import torch

    work()
    least = float("inf")
    for _ in range(repeat):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - start)
    print(f"{name:52} {least * 1e3:10.3f} ms", flush=True)
    return least


def linear(backend, data, repeat):
    """One read of the array, each pass in several launch shapes, and all linear measures together."""
    import torch

    from basanite.representation.backends import fused

    costs = {"one read": clocked("one read (sum)", lambda: data.rows.sum(), 5 * repeat)}
    shift = data.rows[::5000].double().mean(dim=0)
    centres = torch.zeros((CLASSES, DIMENSIONS), dtype=torch.float64, device="cuda")
    passes = {"first": lambda shape: fused.linear_sums(data, shift, shape=shape)}
    passes["second"] = lambda shape: fused.radii_sums(data, centres, shape=shape)
    for rows, warps in ((1, 4), (2, 4), (2, 8), (4, 8), (4, 16), (8, 8), (8, 16)):
        for title, work in passes.items():
            name = f"{title} pass, {rows} rows a step, {warps} warps"
            tried(name, lambda work=work, rows=rows, warps=warps: work(fused.LinearShape(rows, warps)), costs, repeat)
    every = clocked("all linear measures", lambda: backend.linear_values(data, data.classes), 5 * repeat)
    return costs | {"linear measures": every}


def tried(name, work, costs, repeat):
    """Time a launch shape; one that the card or the compiler refuses is said and left out."""
    try:
        costs[name] = clocked(name, work, 3 * repeat)
    except Exception as error:  # noqa: BLE001 - every shape is a guess until it has run
        print(f"{name}: refused, {type(error).__name__}: {str(error).splitlines()[0][:100]}", flush=True)


def sweeps(data):
    """Both sweeps whole, or on a part that takes bearable time, scaled by the number of pairs."""
    import torch

    from basanite.representation.backends import fused, plain

    centre = data.rows[::5000].double().mean(dim=0)
    small = part(data, 200_000)
    shapes = {
        "128 x 128, 8 warps": fused.TileShape(warps=8),
        "128 x 128, 4 warps": fused.TileShape(),
        "128 x 256, 8 warps": fused.TileShape(columns=256, warps=8),
        "128 x 128, 4 warps, 4 stages": fused.TileShape(stages=4),
        "128 x 128, 8 warps, TF32": fused.TileShape(kind=torch.float32, depth=32, warps=8),
    }
    costs = {}
    for title, shape in shapes.items():
        work = lambda shape=shape: fused.distance_sums(small, centre, shape=shape)  # noqa: E731
        tried(f"fused sweep, {len(small.rows)} rows, {title}", work, costs, 1)
    best = min(costs, key=costs.get)
    print("fastest:", best, flush=True)
    chosen = next(shape for title, shape in shapes.items() if best.endswith(title))
    costs["fused sweep"] = whole(
        "fused sweep", data, costs[best], lambda rows: fused.distance_sums(rows, centre, shape=chosen)
    )
    run_plain = lambda rows: plain.distance_sums(rows, centre, kind=torch.float32)  # noqa: E731
    trial = clocked(f"plain sweep, {len(small.rows)} rows", lambda: run_plain(small), 1)
    costs["plain sweep"] = whole("plain sweep", data, trial, run_plain)
    return costs


def whole(name, data, trial, work):
    """The time on all rows: measured, or scaled from a trial on 200,000 where it would take too long."""
    count = len(data.rows)
    expected = trial * (count / min(200_000, count)) ** 2
    if expected > SWEEP_SECONDS:
        print(f"{name:52} {expected:10.2f} s (scaled from the trial)", flush=True)
        return expected
    seconds = clocked_once(lambda: work(data))
    rate = count**2 * DIMENSIONS / seconds / 1e12
    print(f"{name:52} {seconds:10.2f} s   {rate:.0f} TFLOP/s", flush=True)
    return seconds


def clocked_once(work):
    """Seconds of one run."""
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def part(data, rows):
    """The first rows, with their classes."""
    import numpy as np

    from basanite.representation.backends.card import OnDevice

    rows = min(rows, len(data.rows))
    return OnDevice(data.rows[:rows], data.classes.subset(np.arange(rows)))
