"""Anvil: a PyTorch backend on the CUDA runtime, with a software CUDA device for machines that have no GPU.

``import torch`` loads it; ``import torch_anvil`` does so where that is switched off or waits for the first use. The device
is ``"anvil"`` (or ``"privateuseone"``), its functions are in :mod:`torch.anvil`. ``python -m torch_anvil`` prints a
diagnosis.
"""

from __future__ import annotations

import sys

__all__ = ["__version__"]


def _started_with(module: str) -> bool:
    arguments = sys.orig_argv
    return any(pair == ("-m", module) for pair in zip(arguments, arguments[1:]))


def _diagnosing() -> bool:
    """True in ``python -m torch_anvil``, which must get past a package that cannot be loaded."""
    return _started_with("torch_anvil")


def _preparing_stock() -> bool:
    """True in ``python -m torch_anvil.stock`` until the program begins, which has stock torch alone."""
    return _started_with("torch_anvil.stock") and "torch_anvil_stock" not in sys.modules


if not _diagnosing() and not _preparing_stock():
    import torch  # noqa: F401  (first: its autoload may import this package, which then is here already)

    from ._activate import activate as _activate

    _activate()

try:
    from ._build_info import VERSION as __version__
except ImportError:  # only in a diagnosis: activate() says it otherwise
    __version__ = "not built"
