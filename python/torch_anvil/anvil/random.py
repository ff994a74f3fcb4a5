r"""Random number generators of Anvil's devices. Numbers are CUDA's for the same seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from torch_anvil import _C

from ._lazy import _lazy_call, _lazy_init
from ._utils import _get_device_index

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]

_generators: dict[int, torch.Generator] = {}


def _default_generator(index: int) -> torch.Generator:
    if index not in _generators:
        _generators[index] = _C._get_default_generator(index)
    return _generators[index]


def get_rng_state(device: Any = "anvil") -> Tensor:
    r"""Return the random number generator state of the specified device as a ByteTensor: 16 bytes, seed and offset.

    Args:
        device (torch.device or int, optional): the device; the current one by default.
    """
    _lazy_init()
    return _default_generator(_get_device_index(device, optional=True)).get_state()


def get_rng_state_all() -> list[Tensor]:
    r"""Return a list of ByteTensor representing the random number states of all devices."""
    return [get_rng_state(index) for index in range(_C._device_count())]


def set_rng_state(new_state: Tensor, device: Any = "anvil") -> None:
    r"""Set the random number generator state of the specified device.

    Args:
        new_state (torch.ByteTensor): the desired state.
        device (torch.device or int, optional): the device; the current one by default.
    """
    state = new_state.clone(memory_format=torch.contiguous_format)

    def call() -> None:
        _default_generator(_get_device_index(device, optional=True)).set_state(state)

    _lazy_call(call)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    r"""Set the random number generator state of all devices.

    Args:
        new_states (Iterable of torch.ByteTensor): the desired state for each device.
    """
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    r"""Set the seed for generating random numbers for the current device.

    It's safe to call this function if there is no device; in that case, it is silently ignored.

    Args:
        seed (int): the desired seed.
    """
    seed = int(seed)
    _lazy_call(lambda: _default_generator(_C._current_device()).manual_seed(seed) and None, seed=True)


def manual_seed_all(seed: int) -> None:
    r"""Set the seed for generating random numbers on all devices.

    It's safe to call this function if there is no device; in that case, it is silently ignored.

    Args:
        seed (int): the desired seed.
    """
    seed = int(seed)

    def call() -> None:
        for index in range(_C._device_count()):
            _default_generator(index).manual_seed(seed)

    _lazy_call(call, seed_all=True)


def seed() -> None:
    r"""Set the seed for generating random numbers to a random number for the current device."""
    _lazy_call(lambda: _default_generator(_C._current_device()).seed() and None, seed=True)


def seed_all() -> None:
    r"""Set the seed for generating random numbers to a random number on all devices, the same for each."""

    def call() -> None:
        random_seed = 0
        for index in range(_C._device_count()):
            if index == 0:
                random_seed = _default_generator(index).seed()
            else:
                _default_generator(index).manual_seed(random_seed)

    _lazy_call(call, seed_all=True)


def initial_seed() -> int:
    r"""Return the current random seed of the current device."""
    _lazy_init()
    return _default_generator(_C._current_device()).initial_seed()
