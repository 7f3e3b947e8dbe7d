"""What is collected at all: the backend for PyTorch only where PyTorch is (`make test TORCH=no` leaves it out)."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/basanite/backends/*.py"]
