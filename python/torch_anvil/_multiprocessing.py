"""Tensors on the device in queues, pipes and arguments of other processes.

They travel through host memory and arrive on the same device: copies, not shared memory, so that what one process writes
the other does not see. Tensors that share a storage, and a tensor and its gradient, arrive as tensors of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

_NAME = "anvil"


def register() -> None:
    """Takes tensors and storages of the device out of torch's reductions, which share memory of the CPU and of CUDA."""
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce_tensor)
    ForkingPickler.register(torch.UntypedStorage, _reduce_storage)


def _reduce_tensor(tensor: torch.Tensor) -> Any:
    if tensor.device.type != _NAME or tensor.layout != torch.strided:
        return reductions.reduce_tensor(tensor)
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
            "process boundaries. If you just want to transfer the data, call detach() on the tensor before serializing "
            "(e.g., putting it on the queue)."
        )
    torch.utils.hooks.warn_if_has_hooks(tensor)
    # torch's reduction of the host copy, so that the bytes go through shared memory and not through the pipe.
    host = _kept_for_the_child(tensor.detach().resolve_conj().resolve_neg().cpu())
    rebuild, arguments = reductions.reduce_tensor(host)
    return _rebuild_tensor, (rebuild, arguments, tensor.device.index, type(tensor), tensor.requires_grad)


def _rebuild_tensor(
    rebuild: Callable[..., torch.Tensor], arguments: Any, index: int, kind: type[torch.Tensor], requires_grad: bool
) -> torch.Tensor:
    tensor = rebuild(*arguments).to(torch.device(_NAME, index))
    if kind is torch.nn.Parameter:
        return torch.nn.Parameter(tensor, requires_grad=requires_grad)
    return tensor.requires_grad_(requires_grad)


def _kept_for_the_child(host: Any) -> Any:
    """What a process that is being started inherits must live until it runs: its Popen object keeps it."""
    starting = get_spawning_popen()
    if starting is not None:
        starting.__dict__.setdefault("_anvil_host_copies", []).append(host)
    return host


def _reduce_storage(storage: torch.UntypedStorage) -> Any:
    if storage.device.type != _NAME:
        return reductions.reduce_storage(storage)
    rebuild, arguments = reductions.reduce_storage(_kept_for_the_child(storage.cpu()))
    return _rebuild_storage, (rebuild, arguments, storage.device.index)


def _rebuild_storage(rebuild: Callable[..., torch.UntypedStorage], arguments: Any, index: int) -> torch.UntypedStorage:
    return rebuild(*arguments).to(device=torch.device(_NAME, index))
