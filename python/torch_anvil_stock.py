"""Stock ``torch.cuda`` without a GPU: loads the simulator in place of the CUDA runtime.

``python -m torch_anvil.stock SCRIPT`` runs a script so. This module stands outside the package, because importing
``torch_anvil`` loads the backend, which a stock process does not have. A script may ask it for :func:`kernel_counts`.

The stand-ins are loaded before torch and have the sonames that its libraries need (``libcudart.so.13``, ``libcuda.so.1``,
``libnvidia-ml.so.1``), so the dynamic linker does not look for NVIDIA's. Nothing is put in the environment: other programs that
the process starts, compilers say, are not affected. Python processes that ``multiprocessing`` starts are stock processes too,
as they share device memory.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["activate", "active", "kernel_counts", "library_calls"]

# The first has the simulator, and the others need it.
_LIBRARIES = ("libanvil_stock_cudart.so", "libanvil_stock_cuda.so", "libanvil_stock_nvml.so")
# cuBLAS and cuBLASLt, in front of NVIDIA's, which are loaded too and not called. Beside the folder of the others, because
# Anvil itself uses it; builds that found no cublasLt.h lack it.
_BLAS = "libanvil_simulator_blas.so"
_KERNELS = "ANVIL_SIMULATOR_KERNELS"

_loaded: list[ctypes.CDLL] = []
_loaded_blas: list[ctypes.CDLL] = []


def active() -> bool:
    """True if this process runs stock torch on the simulator."""
    return bool(_loaded)


def activate() -> None:
    """Loads the stand-ins; a second call does nothing. Raises RuntimeError where that cannot work."""
    if active():
        return
    problem = _problem()
    if problem is not None:
        raise RuntimeError(problem)
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    folder = _library_folder()
    for name in _LIBRARIES:
        _loaded.append(ctypes.CDLL(os.path.join(folder, name), mode=ctypes.RTLD_GLOBAL))
    blas = os.path.join(os.path.dirname(folder), _BLAS)
    if os.path.exists(blas):
        _loaded_blas.append(ctypes.CDLL(blas, mode=ctypes.RTLD_GLOBAL))
    _follow_multiprocessing()


def kernel_counts() -> dict[str, int]:
    """How often each kernel was launched while ``--kernels=count``, by its C++ name."""
    return _counts(_loaded[0].anvilSimulatorForEachCountedKernel) if active() else {}


def library_calls() -> dict[str, int]:
    """How often each function of cuBLAS and cuBLASLt was called, by its name in the library (``cublasSgemm_v2``)."""
    return _counts(_loaded_blas[0].anvilBlasForEachCall) if _loaded_blas else {}


def _counts(for_each: Callable[..., None]) -> dict[str, int]:
    counts: dict[str, int] = {}

    @ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p)
    def visit(name: bytes, times: int, data: Any) -> None:
        key = name.decode()
        counts[key] = counts.get(key, 0) + times

    for_each(visit, None)
    return counts


def _problem() -> str | None:
    if "torch" in sys.modules:
        return "stock torch on the simulator must be prepared before torch is imported"
    torch = importlib.util.find_spec("torch")
    if torch is None or not torch.submodule_search_locations:
        return "stock torch on the simulator needs torch; install it with: pip install torch"
    if not os.path.exists(os.path.join(torch.submodule_search_locations[0], "lib", "libtorch_cuda.so")):
        return "stock torch on the simulator needs a torch that was built for CUDA 13; this one has no libtorch_cuda.so"
    folder = _library_folder()
    missing = [name for name in _LIBRARIES if not os.path.exists(os.path.join(folder, name))]
    if missing:
        return f"torch_anvil has lost {', '.join(missing)}; install it again with: pip install --force-reinstall torch_anvil"
    return None


def _library_folder() -> str:
    package = importlib.util.find_spec("torch_anvil")
    if package is None or not package.submodule_search_locations:
        raise RuntimeError("torch_anvil is not installed; install it with: pip install .")
    return os.path.join(package.submodule_search_locations[0], "lib", "stock")


def _follow_multiprocessing() -> None:
    """Interpreters that multiprocessing starts ("spawn", "forkserver") load the stand-ins first."""
    from multiprocessing import util

    start: Callable[..., int] = util.spawnv_passfds

    def spawn(path: Any, arguments: Sequence[Any], descriptors: Any) -> int:
        return start(path, [_with_stand_ins(argument) for argument in arguments], descriptors)

    util.spawnv_passfds = spawn


def _with_stand_ins(argument: Any) -> Any:
    text = argument.decode() if isinstance(argument, bytes) else argument
    if not text.startswith(("from multiprocessing.spawn import", "from multiprocessing.forkserver import")):
        return argument
    return f"import torch_anvil_stock; torch_anvil_stock.activate(); {text}"
