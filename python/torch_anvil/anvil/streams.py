r"""Streams and events of Anvil's devices."""

from __future__ import annotations

from typing import Any

import torch

from torch_anvil import _C

from ._lazy import _lazy_init
from ._utils import _get_device_index

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
]


class Stream(torch.Stream):
    r"""Wrapper around a stream: a linear sequence of execution that belongs to a specific device.

    Args:
        device (torch.device or int, optional): a device on which to allocate the stream; the current device by default.
        priority (int, optional): 0 or negative; lower numbers are higher priorities. Values outside of
            :meth:`priority_range` are clamped.
    """

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Stream:
        if "stream_id" in kwargs:  # names a stream that exists
            return super().__new__(cls, **kwargs)
        _lazy_init()
        return cls._wrap(_C._stream_from_pool(priority, _get_device_index(device, optional=True)))

    @classmethod
    def _wrap(cls, packed: tuple[int, int, int]) -> Stream:
        stream_id, device_index, device_type = packed
        return torch.Stream.__new__(cls, stream_id=stream_id, device_index=device_index, device_type=device_type)

    @property
    def cuda_stream(self) -> int:
        r"""The runtime's handle (``cudaStream_t``) as an integer; 0 is the legacy default stream."""
        return _C._stream_handle(self.stream_id, self.device_index)

    @property
    def priority(self) -> int:
        r"""The stream's priority: 0, or negative if it is higher."""
        return _C._stream_priority(self.stream_id, self.device_index)

    @staticmethod
    def priority_range() -> tuple[int, int]:
        r"""The lowest and the highest priority, for example (0, -5)."""
        _lazy_init()
        return _C._stream_priority_range()

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        r"""Record an event, a new one if none is given, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch.anvil.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    r"""Wrapper around a stream that someone else made and keeps alive.

    Args:
        stream_ptr (int): the ``cudaStream_t``.
        device (torch.device or int, optional): the stream's device; the current device by default.
    """

    def __new__(cls, stream_ptr: int, device: Any = None, **kwargs: Any) -> ExternalStream:
        _lazy_init()
        packed = _C._external_stream(stream_ptr, _get_device_index(device, optional=True))
        return cls._wrap(packed)  # type: ignore[return-value]


class Event(torch.Event):
    r"""Wrapper around an event: a marker in a stream, to wait for, to query and to measure time with.

    Args:
        enable_timing (bool, optional): whether the event should measure time.
        blocking (bool, optional): whether :meth:`wait` should block.
        interprocess (bool): whether the event can be shared between processes.
    """

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> Event:
        _lazy_init()
        return super().__new__(cls, device="anvil", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)

    def record(self, stream: torch.Stream | None = None) -> None:
        r"""Record the event in a given stream; in the current one by default."""
        super().record(current_stream() if stream is None else stream)

    def wait(self, stream: torch.Stream | None = None) -> None:
        r"""Make all future work submitted to the given stream wait for this event; the current stream by default."""
        super().wait(current_stream() if stream is None else stream)

    def elapsed_time(self, end_event: torch.Event) -> float:
        r"""Return the time in milliseconds between this event and ``end_event``; both must be recorded and done."""
        return _C._elapsed_time(self, end_event)


class StreamContext:
    r"""Context-manager that selects a given stream, on its device. See :func:`stream`."""

    def __init__(self, stream: torch.Stream | None) -> None:
        _check_stream(stream)
        self.stream = stream
        # (the stream that was current on the stream's device, the device that was current), one for each entry
        self._previous: list[tuple[Stream, int]] = []

    def __enter__(self) -> None:
        if self.stream is None:
            return
        _lazy_init()
        self._previous.append((current_stream(self.stream.device), _C._current_device()))
        set_stream(self.stream)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        if self.stream is None:
            return
        stream, device = self._previous.pop()
        set_stream(stream)
        _C._set_device(device)


def _check_stream(stream: Any) -> None:
    if stream is None:
        return
    if not isinstance(stream, torch.Stream):
        raise TypeError(f"Expected a torch.anvil.Stream or None, but got: {stream!r}")
    if stream.device.type != "anvil":
        raise ValueError(f"Expected a stream of an anvil device, but got one of {stream.device}")


def stream(stream: torch.Stream | None) -> StreamContext:
    r"""Wrap around the Context-manager StreamContext that selects a given stream.

    Args:
        stream (Stream): selected stream. This manager is a no-op if it's ``None``.
    """
    return StreamContext(stream)


def set_stream(stream: torch.Stream) -> None:
    r"""Set the current stream, and its device as the current device.

    Usage of this function is discouraged in favor of the :func:`stream` context manager.

    Args:
        stream (Stream): selected stream. This function is a no-op if this argument is ``None``.
    """
    _check_stream(stream)
    if stream is None:
        return
    _lazy_init()
    _C._set_device(stream.device_index)
    _C._set_current_stream(stream.stream_id, stream.device_index)


def current_stream(device: Any = None) -> Stream:
    r"""Return the currently selected :class:`Stream` for a given device; for the current device by default."""
    _lazy_init()
    return Stream._wrap(_C._current_stream(_get_device_index(device, optional=True)))


def default_stream(device: Any = None) -> Stream:
    r"""Return the default :class:`Stream` for a given device; for the current device by default."""
    _lazy_init()
    return Stream._wrap(_C._default_stream(_get_device_index(device, optional=True)))


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    r"""Return a :class:`Stream` from an externally allocated ``cudaStream_t``, which must outlive it."""
    return ExternalStream(data_ptr, device)
