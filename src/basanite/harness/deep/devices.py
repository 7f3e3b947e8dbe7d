"""Where learners compute, and how rows get there: a block at a time, dense, in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

BLOCK: Final = 4_096
DEVICES: Final = ("auto", "cpu", "cuda")


def load_torch() -> Any:
    """PyTorch, or the line to type where it is missing."""
    try:
        import torch
    except ImportError as missing:
        raise MissingExtraError("This learner needs PyTorch. Type: pip install -r requirements/torch.txt") from missing
    return torch


def chosen_device(name: str) -> torch.device:
    """The device of a name; `auto` takes an accelerator if there is one."""
    found = load_torch()
    if name == "cuda" and not found.cuda.is_available():
        raise SettingError("device = cuda, and there is no accelerator here. Use auto or cpu.")
    chosen: torch.device = found.device("cuda" if name != "cpu" and found.cuda.is_available() else "cpu")
    return chosen


def block_of(features: Any, rows: Any, device: torch.device) -> torch.Tensor:
    """Some rows of a matrix, dense, on the device."""
    part = features[rows]
    if scipy.sparse.issparse(part):
        return _filled(scipy.sparse.csr_array(part), device)
    plain = np.asarray(part)
    result: Tensor = load_torch().from_numpy(np.ascontiguousarray(plain, np.float32)).to(device)
    return result


def _filled(part: scipy.sparse.csr_array, device: torch.device) -> torch.Tensor:
    """A sparse block made dense on the device itself: what is sent there is a hundredth of it for texts."""
    torch = load_torch()
    columns, values = (torch.from_numpy(one).to(device) for one in (part.indices, part.data.astype(np.float32)))
    lengths = torch.from_numpy(np.diff(part.indptr)).to(device)
    places = torch.repeat_interleave(torch.arange(part.shape[0], device=device), lengths)
    dense = torch.zeros(part.shape, dtype=torch.float32, device=device)
    dense.index_put_((places, columns.long()), values, accumulate=True)  # as CSR means it, where one stands twice
    filled: Tensor = dense
    return filled


def held(tensor: torch.Tensor) -> NDArray[np.float32]:
    """A tensor as an array of this machine."""
    found: NDArray[np.float32] = tensor.detach().to("cpu", load_torch().float32).numpy()
    return found
