r"""Memory of Anvil's devices: statistics and control of the caching allocator."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from torch_anvil import _C

from ._lazy import _lazy_init, is_initialized
from ._utils import _get_device_index

__all__ = [
    "empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
]


def empty_cache() -> None:
    r"""Release all unoccupied cached memory currently held by the caching allocator, so that others can use it."""
    if is_initialized():
        torch._C._accelerator_emptyCache()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    r"""Return the result of :func:`memory_stats` as a nested dictionary."""
    if not is_initialized():
        return {}
    return torch._C._accelerator_getDeviceStats(_get_device_index(device, optional=True))


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    r"""Return a dictionary of allocator statistics for a given device, with the keys of :func:`torch.cuda.memory_stats`.

    Args:
        device (torch.device or int, optional): selected device; the current device by default.
    """
    return _flatten(memory_stats_as_nested_dict(device))


def memory_allocated(device: Any = None) -> int:
    r"""Return the current memory occupied by tensors in bytes for a given device."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    r"""Return the maximum memory occupied by tensors in bytes for a given device, since the start of the program or
    :func:`reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    r"""Return the current memory managed by the caching allocator in bytes for a given device."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    r"""Return the maximum memory managed by the caching allocator in bytes for a given device, since the start of the
    program or :func:`reset_peak_memory_stats`."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: Any = None) -> None:
    r"""Reset the "peak" stats tracked by the memory allocator."""
    _lazy_init()
    torch._C._accelerator_resetPeakStats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    r"""Reset the "accumulated" (historical) stats tracked by the memory allocator."""
    _lazy_init()
    torch._C._accelerator_resetAccumulatedStats(_get_device_index(device, optional=True))


def reset_max_memory_allocated(device: Any = None) -> None:
    r"""Reset the starting point in tracking maximum memory occupied by tensors; as :func:`reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Any = None) -> None:
    r"""Reset the starting point in tracking maximum memory managed by the allocator; as :func:`reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    r"""Return the free and total memory of a given device in bytes, as ``cudaMemGetInfo`` gives them."""
    _lazy_init()
    return torch._C._accelerator_getMemoryInfo(_get_device_index(device, optional=True))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    r"""Return the result of :func:`host_memory_stats` as a nested dictionary."""
    return _C._host_memory_stats() if is_initialized() else {}


def host_memory_stats() -> OrderedDict[str, Any]:
    r"""Return a dictionary of statistics of the cache of pinned host memory."""
    return _flatten(host_memory_stats_as_nested_dict())


def reset_accumulated_host_memory_stats() -> None:
    r"""Reset the "accumulated" (historical) stats tracked by the host memory allocator."""
    _C._reset_accumulated_host_memory_stats()


def reset_peak_host_memory_stats() -> None:
    r"""Reset the "peak" stats tracked by the host memory allocator."""
    _C._reset_peak_host_memory_stats()


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    r"""Return a human-readable printout of the current memory allocator statistics for a given device.

    Args:
        device (torch.device or int, optional): selected device; the current device by default.
        abbreviated (bool, optional): whether to leave the two pools out.
    """
    _lazy_init()
    index = _get_device_index(device, optional=True)
    stats = memory_stats(index)
    pools = (
        [("all", "")]
        if abbreviated
        else [("all", ""), ("large_pool", "  from large pool"), ("small_pool", "  from small pool")]
    )
    columns = ("current", "peak", "allocated", "freed")
    titles = ("current", "peak", "total allocated", "total freed")
    lines = [
        f"Memory of anvil:{index} ({stats.get('num_ooms', 0)} out-of-memory errors, "
        f"{stats.get('num_alloc_retries', 0)} retries)",
        f"{'':24}" + "".join(f"{title:>17}" for title in titles),
    ]
    for key, title, is_size in _SUMMARY:
        for pool, pool_title in pools:
            values = [stats.get(f"{key}.{pool}.{column}", 0) for column in columns]
            cells = [_size(value) if is_size else str(value) for value in values]
            lines.append(f"{pool_title or title:24}" + "".join(f"{cell:>17}" for cell in cells))
    return "\n".join(lines) + "\n"


_SUMMARY = (
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "Reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("segment", "Segments", False),
)


def _size(value: float) -> str:
    units = ["B", "KiB", "MiB", "GiB"]
    while abs(value) >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.0f} {units[0]}" if units[0] == "B" else f"{value:.1f} {units[0]}"


def _flatten(nested: dict[str, Any], prefix: str = "") -> OrderedDict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        name = f"{prefix}.{key}" if prefix else key
        flat.update(_flatten(value, name) if isinstance(value, dict) else {name: value})
    return OrderedDict(sorted(flat.items()))
