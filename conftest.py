"""What is collected at all: the backend for PyTorch only where PyTorch is (`make test TORCH=no` leaves it out).

The environment of migrations is left out: it can be loaded by Alembic alone.
"""

from importlib.util import find_spec

collect_ignore_glob = [
    "src/basanite/campaign/store/migrations/env.py",
    *([] if find_spec("torch") else ["src/basanite/backends/*.py"]),
]
