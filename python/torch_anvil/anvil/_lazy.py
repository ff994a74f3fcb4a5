"""Initialisation at first use, in the form that torch.cuda has it."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from torch_anvil import _C

_initialized = False
_lock = threading.RLock()  # a queued call may queue another
_thread = threading.local()
# (what to call, seeds all devices, seeds the current device, where it was asked for)
_queued_calls: list[tuple[Callable[[], Any], bool, bool, list[str]]] = []


def is_initialized() -> bool:
    r"""Return whether Anvil's device state has been initialized."""
    return _initialized and not _is_in_bad_fork()


def _is_in_bad_fork() -> bool:
    """True in a process that was forked from one that used the device."""
    return _C._is_in_bad_fork()


def init() -> None:
    r"""Initialize Anvil's device state.

    There is no need to call it: every function that needs a device does so. Does nothing if the state is initialized.
    """
    _lazy_init()


def _lazy_init() -> None:
    global _initialized
    if is_initialized() or getattr(_thread, "is_initializing", False):
        return
    with _lock:
        if is_initialized():
            return
        if _is_in_bad_fork():
            raise RuntimeError(
                "Cannot re-initialize anvil in forked subprocess. To use anvil with multiprocessing, you must use the "
                "'spawn' start method: torch.multiprocessing.set_start_method('spawn'), or "
                "DataLoader(..., multiprocessing_context='spawn')"
            )
        _C._init()
        # Calls that were queued may come here again; they must find the device ready.
        _thread.is_initializing = True
        try:
            for call, _, _, asked_at in _queued_calls:
                try:
                    call()
                except Exception as error:
                    raise RuntimeError(
                        f"anvil: a call that was queued until the first use of the device failed: {error}\n\n"
                        f"It was asked for at:\n\n{''.join(asked_at)}"
                    ) from error
            _queued_calls.clear()
        finally:
            del _thread.is_initializing
        _initialized = True


def _lazy_call(call: Callable[[], Any], *, seed: bool = False, seed_all: bool = False) -> None:
    """Runs ``call`` now if the device is initialized, else right after it is.

    A call that seeds replaces earlier ones that it would undo, so that seeding in a loop costs no memory.
    """
    with _lock:
        if not is_initialized():
            if seed_all:
                _queued_calls[:] = [entry for entry in _queued_calls if not (entry[1] or entry[2])]
            elif seed:
                _queued_calls[:] = [entry for entry in _queued_calls if not entry[2]]
            _queued_calls.append((call, seed_all, seed, traceback.format_stack()))
            return
    call()
