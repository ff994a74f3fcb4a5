r"""Which operators ran where, and what happens to one that has no kernel.

Each call of an operator is counted as *kernel* (one of Anvil's), *library* (a vendor's library; on the simulator, ATen's CPU
implementation on the device's memory) or *fallback* (copied to the CPU and back). Views, allocations and composite operators
are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from torch_anvil import _C

__all__ = [
    "FallbackStats",
    "OperatorStats",
    "allow_fallback",
    "fallback_policy",
    "fallback_stats",
    "forbid_fallback",
    "operator_stats",
    "reset_fallback_stats",
    "reset_operator_stats",
    "warn_fallback",
]


class OperatorStats(NamedTuple):
    r"""Calls of one operator, by how they were served."""

    kernel: int
    library: int
    fallback: int


class FallbackStats(NamedTuple):
    r"""What falling back cost one operator."""

    calls: int
    bytes: int
    synchronizations: int


def operator_stats() -> dict[str, OperatorStats]:
    r"""Return the operators that ran since the start or :func:`reset_operator_stats`, by name (``"aten::add.Tensor"``)."""
    return {name: OperatorStats(*stats) for name, stats in _C._operator_stats().items()}


def reset_operator_stats() -> None:
    r"""Set all counters of operators to zero, those of the fallback too."""
    _C._reset_operator_stats()


def fallback_stats() -> dict[str, FallbackStats]:
    r"""Return the operators that fell back to the CPU since the start or the last reset, by name: calls, bytes copied (both
    ways together) and times that the calling thread waited for the device."""
    return {name: FallbackStats(*stats) for name, stats in _C._fallback_stats().items()}


def reset_fallback_stats() -> None:
    r"""Set the counters of the fallback to zero."""
    _C._reset_fallback_stats()


def fallback_policy() -> str:
    r"""Return what happens to an operator that has no kernel: ``"warn"`` (once for each operator), ``"allow"`` or ``"forbid"``.

    The environment variable ``ANVIL_FALLBACK`` sets it; :func:`forbid_fallback`, :func:`warn_fallback` and
    :func:`allow_fallback` change it for a block.
    """
    return _C._fallback_policy()


def forbid_fallback():
    r"""Context-manager in which an operator without a kernel is an error that names it, in backward too."""
    return _policy("forbid")


def warn_fallback():
    r"""Context-manager in which an operator without a kernel runs on the CPU, with a warning once for each operator."""
    return _policy("warn")


def allow_fallback():
    r"""Context-manager in which an operator without a kernel runs on the CPU, silently."""
    return _policy("allow")


@contextmanager
def _policy(name: str) -> Iterator[None]:
    before = _C._exchange_fallback_policy(name)
    try:
        yield
    finally:
        _C._exchange_fallback_policy(before)
