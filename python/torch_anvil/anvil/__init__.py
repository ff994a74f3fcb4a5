r"""This package is :mod:`torch.anvil`: what :mod:`torch.cuda` offers, under the same names, for Anvil's devices.

It is initialized at first use, so it is always safe to look into it; :func:`is_available` says whether there is a device.
"""

from __future__ import annotations

from typing import Any

import torch

from torch_anvil import _C

from . import _utils as _utils
from . import amp, memory, operators, random, streams
from ._inductor import _inductor_backend_init as _inductor_backend_init
from ._lazy import _is_in_bad_fork as _is_in_bad_fork
from ._lazy import _lazy_call as _lazy_call
from ._lazy import _lazy_init, init, is_initialized
from ._utils import _get_device_index
from .memory import *  # noqa: F403
from .operators import *  # noqa: F403
from .random import *  # noqa: F403
from .streams import *  # noqa: F403

_AnvilDeviceProperties = _C._AnvilDeviceProperties
OutOfMemoryError = torch.OutOfMemoryError
AcceleratorError = torch.AcceleratorError


def __getattr__(name: str) -> Any:
    # torch.utils.checkpoint asks for this attribute before it saves the generator's state; it changes with time.
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.anvil' has no attribute '{name}'")


def is_available() -> bool:
    r"""Return whether there is a device. Does not create a context."""
    return device_count() > 0


def device_count() -> int:
    r"""Return the number of devices: of GPUs, or of the simulator's devices. 0 where no driver answers."""
    return _C._device_count()


def current_device() -> int:
    r"""Return the index of the currently selected device."""
    _lazy_init()
    return _C._current_device()


def set_device(device: Any) -> None:
    r"""Set the current device of the calling thread.

    Usage of this function is discouraged in favor of :class:`device`.

    Args:
        device (torch.device or int): selected device. Does nothing if it is negative.
    """
    index = _get_device_index(device)
    if index >= 0:
        _lazy_init()
        _C._set_device(index)


def _exchange_device(device: int) -> int:
    """Makes ``device`` current and returns the one that was; a negative ``device`` changes nothing and gives -1."""
    if device < 0:
        return -1
    _lazy_init()
    return _C._exchange_device(device)


def _maybe_exchange_device(device: int) -> int:
    """As :func:`_exchange_device`, for leaving a block: does not create a context on the device it goes back to."""
    if device < 0:
        return -1
    return _C._maybe_exchange_device(device)


class device:
    r"""Context-manager that changes the selected device. It can be entered again while it is active.

    Args:
        device (torch.device or int): device index to select. It's a no-op if this argument is a negative integer or ``None``.
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else _get_device_index(device, optional=True)
        self._previous: list[int] = []

    def __enter__(self) -> None:
        self._previous.append(_exchange_device(self.idx))

    def __exit__(self, type: Any, value: Any, traceback: Any) -> bool:
        _maybe_exchange_device(self._previous.pop())
        return False


class device_of(device):
    r"""Context-manager that changes the current device to that of given object.

    You can use both tensors and storages as arguments. If a given object is not allocated on an Anvil device, this is a
    no-op.

    Args:
        obj (Tensor or Storage): object allocated on the selected device.
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.device.type == "anvil" else None)


def get_device_name(device: Any = None) -> str:
    r"""Get the name of a device.

    Args:
        device (torch.device or int or str, optional): device for which to return the name; the current device by default.
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    r"""Get the CUDA capability of a device, as (major, minor).

    Args:
        device (torch.device or int or str, optional): device for which to return the capability; the current device by
            default.
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_device_properties(device: Any = None) -> _AnvilDeviceProperties:
    r"""Get the properties of a device.

    Args:
        device (torch.device or int or str, optional): device for which to return the properties; the current device by
            default.
    """
    _lazy_init()
    return _C._get_device_properties(_get_device_index(device, optional=True))


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    r"""Check if peer access between two devices is possible."""
    _lazy_init()
    return _C._can_access_peer(_get_device_index(device, optional=True), _get_device_index(peer_device))


def synchronize(device: Any = None) -> None:
    r"""Wait for all kernels in all streams on a device to complete, and raise what failed there.

    Args:
        device (torch.device or int, optional): device for which to synchronize; the current device by default.
    """
    _lazy_init()
    _C._synchronize(_get_device_index(device, optional=True))


def ipc_collect() -> None:
    r"""Force collects memory that other processes gave back. Anvil shares none, so there is nothing to collect."""
    _lazy_init()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    r"""Return a bool indicating if the current device supports the dtype bfloat16."""
    return including_emulation or get_device_capability() >= (8, 0)


def get_amp_supported_dtype() -> list[torch.dtype]:
    r"""Return the dtypes that :class:`torch.autocast` can lower to on Anvil."""
    return [torch.float16, torch.bfloat16]


def driver() -> str:
    r"""Return what the devices are: ``"CUDA"``, or ``"simulator"``, the software device."""
    return _C._driver_name()


def _get_device(device: Any) -> torch.device:
    """The :class:`torch.device` that an int, a string or a device means."""
    return torch.device("anvil", _get_device_index(device, optional=True))


def _get_generator(device: torch.device) -> torch.Generator:
    """The default generator of ``device``."""
    return random._default_generator(_get_device_index(device, optional=True))


__all__ = [
    "AcceleratorError",
    "OutOfMemoryError",
    "amp",
    "can_device_access_peer",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "driver",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "memory",
    "operators",
    "random",
    "set_device",
    "streams",
    "synchronize",
    *memory.__all__,
    *operators.__all__,
    *random.__all__,
    *streams.__all__,
]
