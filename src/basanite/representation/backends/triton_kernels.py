"""Kernels for NVIDIA cards, written in Triton: what keeps a tile in registers where PyTorch would write it to memory.

Imported only by `basanite.representation.backends.fused`, on a machine with a card and Triton. Rows are in class order;
a chunk is a few rows of one class. Sums are float64, tiles float32. Triton passes pointers, sizes and constants one by
one, so kernels have long lists of arguments.
"""
# ruff: noqa: ANN001, ANN201, ANN205

try:
    import triton
    import triton.language as tl
except ModuleNotFoundError:  # the module can still be imported, as documentation tests do; launching a kernel cannot

    class _Absent:
        constexpr = object

        @staticmethod
        def jit(kernel):
            """A kernel that nobody can launch."""
            return kernel

    triton = tl = _Absent()


@triton.jit
def class_sums(
    x,
    shift,
    chunks,
    unit,
    sums,
    squares,
    counted,
    dimensions,
    stride,
    ROWS: tl.constexpr,  # noqa: N803
    WIDTH: tl.constexpr,  # noqa: N803
    WIDE: tl.constexpr,  # noqa: N803
):
    """One chunk of the linear pass: unit vectors, shifted rows and squares, in one read of its rows.

    `chunks` holds first row, last row and class; `counted` gets zero rows, rows whose length float32 cannot be
    trusted with, and whether anything is negative.
    """
    chunk = tl.program_id(0)
    first = tl.load(chunks + chunk * 3)
    last = tl.load(chunks + chunk * 3 + 1)
    place = tl.load(chunks + chunk * 3 + 2)
    at = tl.arange(0, WIDTH)
    real = at < dimensions
    pilot = tl.load(shift + at, mask=real, other=0.0)
    all_unit = tl.zeros((WIDTH,), tl.float64)
    all_sums = tl.zeros((WIDTH,), tl.float64)
    all_squares = tl.zeros((WIDTH,), tl.float64)
    zeros = tl.zeros((ROWS,), tl.int32)
    odd = tl.zeros((ROWS,), tl.int32)
    lowest = tl.zeros((WIDTH,), tl.float32)
    for start in range(first, last, ROWS):
        rows = start + tl.arange(0, ROWS)
        present = rows < last
        mask = present[:, None] & real[None, :]
        block = tl.load(x + rows[:, None] * stride + at[None, :], mask=mask, other=0.0)
        lowest = tl.minimum(lowest, tl.min(block, axis=0).to(tl.float32))
        if WIDE:
            block = block.to(tl.float64)
        length = tl.sum(block * block, axis=1)
        weight = tl.where(length > 0, 1.0 / tl.sqrt(length), 0.0)
        moved = tl.where(mask, block - pilot[None, :], 0.0)
        all_unit += tl.sum(block * weight[:, None], axis=0).to(tl.float64)
        all_sums += tl.sum(moved, axis=0).to(tl.float64)
        all_squares += tl.sum(moved * moved, axis=0).to(tl.float64)
        zeros += (present & (length == 0)).to(tl.int32)
        sound = (length > 1e-30) & (length < 1e30)
        odd += (present & (sound == 0)).to(tl.int32)
    to = place * dimensions + at
    tl.atomic_add(unit + to, all_unit, mask=real)
    tl.atomic_add(sums + to, all_sums, mask=real)
    tl.atomic_add(squares + to, all_squares, mask=real)
    tl.store(counted + chunk * 3, tl.sum(zeros, axis=0))
    tl.store(counted + chunk * 3 + 1, tl.sum(odd, axis=0))
    tl.store(counted + chunk * 3 + 2, (tl.min(lowest, axis=0) < 0).to(tl.int32))


@triton.jit
def class_radii(
    x,
    centres,
    chunks,
    found,
    dimensions,
    stride,
    ROWS: tl.constexpr,  # noqa: N803
    WIDTH: tl.constexpr,  # noqa: N803
    WIDE: tl.constexpr,  # noqa: N803
):
    """One chunk of the second pass: the sum of distances to the class centroid, of their squares, and the largest."""
    chunk = tl.program_id(0)
    first = tl.load(chunks + chunk * 3)
    last = tl.load(chunks + chunk * 3 + 1)
    place = tl.load(chunks + chunk * 3 + 2)
    at = tl.arange(0, WIDTH)
    real = at < dimensions
    centre = tl.load(centres + place * dimensions + at, mask=real, other=0.0)
    distances = tl.zeros((ROWS,), tl.float64)
    squares = tl.zeros((ROWS,), tl.float64)
    largest = tl.zeros((ROWS,), tl.float64)
    for start in range(first, last, ROWS):
        rows = start + tl.arange(0, ROWS)
        present = rows < last
        mask = present[:, None] & real[None, :]
        block = tl.load(x + rows[:, None] * stride + at[None, :], mask=mask, other=0.0)
        if WIDE:
            block = block.to(tl.float64)
        away = tl.where(mask, block - centre[None, :], 0.0)
        square = tl.sum(away * away, axis=1).to(tl.float64)
        distance = tl.sqrt(square)
        distances += distance
        squares += square
        largest = tl.maximum(largest, distance)
    tl.store(found + chunk * 3, tl.sum(distances, axis=0))
    tl.store(found + chunk * 3 + 1, tl.sum(squares, axis=0))
    tl.store(found + chunk * 3 + 2, tl.max(largest, axis=0))


@triton.jit
def pair_tiles(
    x,
    lengths,
    codes,
    sums,
    near,
    far,
    count,
    padded,
    dimensions,
    first_tile,
    tiles,
    first_column,
    ROWS: tl.constexpr,  # noqa: N803
    COLUMNS: tl.constexpr,  # noqa: N803
    DEPTH: tl.constexpr,  # noqa: N803
):
    """One tile of distances, each pair once: its sums by class, its least between and its largest inside a class.

    Neighbouring programs share a column tile, so that the rows of a launch stay in the card's cache. Tiles below the
    diagonal, a few in each launch, count nothing.
    """
    program = tl.program_id(0)
    row_start = (first_tile + program % tiles) * ROWS
    column_start = first_column + (program // tiles) * COLUMNS
    rows = row_start + tl.arange(0, ROWS)
    columns = column_start + tl.arange(0, COLUMNS)
    inner = tl.arange(0, DEPTH)
    left = x + rows[:, None].to(tl.int64) * dimensions + inner[None, :]
    right = x + columns[None, :].to(tl.int64) * dimensions + inner[:, None]
    products = tl.zeros((ROWS, COLUMNS), tl.float32)
    for _ in range(0, dimensions, DEPTH):
        products = tl.dot(tl.load(left), tl.load(right), products)
        left += DEPTH
        right += DEPTH
    square = tl.load(lengths + rows)[:, None] + tl.load(lengths + columns)[None, :] - 2.0 * products
    square = tl.maximum(square, 0.0)
    counted = (rows[:, None] < columns[None, :]) & (columns < count)[None, :]
    row_codes = tl.load(codes + rows)
    column_codes = tl.load(codes + columns)
    first_class = tl.load(codes + column_start)
    last_class = tl.load(codes + tl.minimum(column_start + COLUMNS, count) - 1)
    first_own = tl.load(codes + row_start)
    last_own = tl.load(codes + tl.minimum(row_start + ROWS, count) - 1)
    same = row_codes[:, None] == column_codes[None, :]
    apart = tl.where(same, float("inf"), tl.where(counted, square, float("inf")))
    tl.store(near + program, tl.min(tl.min(apart, axis=1), axis=0))
    if last_own >= first_class:
        together = tl.where(same, tl.where(counted, square, -1.0), -1.0)
        tl.store(far + program, tl.max(tl.max(together, axis=1), axis=0))
    distance = tl.where(counted, tl.sqrt(square), 0.0)
    for place in range(first_class, last_class + 1):
        part = tl.sum(tl.where((column_codes == place)[None, :], distance, 0.0), axis=1)
        tl.atomic_add(sums + place.to(tl.int64) * padded + rows, part, mask=rows < count, sem="relaxed")
    for place in range(first_own, last_own + 1):
        part = tl.sum(tl.where((row_codes == place)[:, None], distance, 0.0), axis=0)
        tl.atomic_add(sums + place.to(tl.int64) * padded + columns, part, mask=columns < count, sem="relaxed")
