r"""Automatic mixed precision on Anvil's devices: :class:`torch.amp` with the device filled in."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["GradScaler", "autocast"]


class autocast(torch.amp.autocast):
    r"""``torch.anvil.amp.autocast(args...)`` is equivalent to ``torch.amp.autocast("anvil", args...)``."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        super().__init__("anvil", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(torch.amp.GradScaler):
    r"""``torch.anvil.amp.GradScaler(args...)`` is equivalent to ``torch.amp.GradScaler("anvil", args...)``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("anvil", *args, **kwargs)
