"""How device arguments become indices; torch.load looks this module up by its name."""

from __future__ import annotations

from typing import Any

import torch

from torch_anvil import _C

__all__: list[str] = []

_NAMES = ("anvil", "privateuseone")


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index that ``device`` means: an int, a string, a :class:`torch.device`, or None.

    Args:
        device: the device; one without an index, or None, is the current one if ``optional`` is True.
        optional (bool): whether the index may be missing.
        allow_cpu (bool): whether a CPU device is allowed; its index is -1.
    """
    if isinstance(device, int):
        if not -128 <= device <= 127:  # what torch's index of a device can hold
            raise ValueError(f"anvil device index {device} is out of range: there are {_C._device_count()} devices")
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type not in _NAMES:
            raise ValueError(f"Expected an anvil device, but got: {device}")
        if device.index is not None:
            if device.index < -1:  # torch keeps 8 bits of "anvil:200"
                _C._check_device_index(device.index)
            return device.index
    elif device is not None:
        raise ValueError(f"Expected an anvil device, an index or None, but got: {device!r}")
    if not optional:
        raise ValueError(f"Expected an anvil device with a specified index or an integer, but got: {device}")
    return _C._current_device()
