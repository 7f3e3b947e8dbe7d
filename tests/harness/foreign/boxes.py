"""Running small programs in a box; where no box can be made, the same calls must be refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from basanite.sandbox.box import MIB, Box, Limits
from basanite.sandbox.runner import NoSandboxError, capability, run_boxed

LIMITS = Limits(seconds=20, memory=400 * MIB, output=8 * MIB, log=4096, processes=16, files=64)


def folders(tmp_path: Path) -> list[Path]:
    found = [tmp_path / name for name in ("system", "given", "out", "state")]
    for folder in found:
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    return found


def boxed(tmp_path: Path, code: str, *, limits: Limits = LIMITS, learns: bool = False):
    """Run Python code in a box; the test ends here, having proved the refusal, where there can be none."""
    system, given, out, state = folders(tmp_path)
    reads = (Path(sys.prefix), Path(sys.base_prefix))
    box = Box((sys.executable, "-I", "-S", "-c", code), system, given, out, state, learns, reads, limits)
    if not capability().possible:
        with pytest.raises(NoSandboxError, match="no program of a team is run"):
            run_boxed(box)
        assert list(out.iterdir()) == []
        pytest.skip(f"refusal proved, containment not: no box can be made here ({capability().reason})")
    return run_boxed(box)
