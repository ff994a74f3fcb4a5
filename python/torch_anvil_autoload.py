"""The entry point that ``import torch`` calls (group ``torch.backends``).

A module of its own, outside the package: where the backend waits for its first use, importing ``torch_anvil`` is what ends
the wait, so autoload must not import it.

Naming PrivateUse1 makes it *the* accelerator, after which every ``torch.cuda`` backward in the process fails
(pytorch#161129). So the backend is loaded and named at once only where stock torch has no device of its own. Elsewhere
``torch.privateuseone`` is a stand-in; torch calls its ``_lazy_init`` at the first use of the device, and that loads the rest.
"""

from __future__ import annotations

import glob
import importlib
import os
import re
import sys
from types import ModuleType
from typing import Any

__all__ = ["autoload"]

# Higher than the priorities that torch gives its own devices (10 to 26).
_SERIALIZATION_PRIORITY = 100


def _stock_device_files() -> list[str]:
    """Device files of the accelerator that the installed torch was built for; looking at them initialises nothing."""
    import torch

    stock = sys.modules.get("torch_anvil_stock")
    if stock is not None and stock.active():
        return ["libcudart.so.13 of the simulator"]
    if torch.version.cuda is not None:
        if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
            return []
        patterns = ["/dev/nvidia[0-9]*", "/dev/dxg"]
    elif torch.version.hip is not None:
        patterns = ["/dev/kfd"]
    elif torch.version.xpu is not None:
        patterns = ["/dev/dri/renderD*", "/dev/dxg"]
    else:
        patterns = []
    return [path for pattern in patterns for path in glob.glob(pattern)]


def autoload() -> None:
    """Loads the backend, or prepares its loading at first use. Never raises: ``import torch`` must work."""
    if _stock_device_files():
        _register_stand_in(_Waiting("torch.privateuseone"))
        return
    try:
        importlib.import_module("torch_anvil")
    except Exception as error:
        print(f"{error}", file=sys.stderr)
        _register_stand_in(_Unusable("torch.privateuseone", str(error)))


class _StandIn(ModuleType):
    """What ``torch.privateuseone`` is until the backend is loaded."""

    def _lazy_init(self) -> None:
        raise NotImplementedError

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Does nothing: no device was used, and the backend seeds itself from torch's seed when it is loaded."""

    # Code that looks for accelerators (torch's own test suite, libraries) must not find one here and use it.
    def is_initialized(self) -> bool:
        return False

    def is_available(self) -> bool:
        return False

    def device_count(self) -> int:
        return 0


class _Waiting(_StandIn):
    """A use of the device loads the backend and goes on with ``torch.anvil``; being looked at does not."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._seed: int | None = None

    def _lazy_init(self) -> None:
        importlib.import_module("torch_anvil")
        import torch

        if self._seed is not None:
            torch.anvil.manual_seed_all(self._seed)
        torch.anvil._lazy_init()

    def manual_seed_all(self, seed: int) -> None:
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        importlib.import_module("torch_anvil")
        import torch

        return getattr(torch.anvil, name)


class _Unusable(_StandIn):
    """The backend could not be loaded: every use says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self._message = reason

    def _lazy_init(self) -> None:
        raise RuntimeError(self._message)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"torch.privateuseone.{name}: {self._message}")


def _register_stand_in(module: _StandIn) -> None:
    import torch

    torch.privateuseone = module  # type: ignore[attr-defined]
    sys.modules["torch.privateuseone"] = module

    # A file that was saved on the device can be the first use.
    def restore(storage: Any, location: str) -> Any:
        if re.fullmatch(r"(anvil|privateuseone)(:\d+)?", location) is None:
            return None
        module._lazy_init()
        return torch.serialization.default_restore_location(storage, location)

    torch.serialization.register_package(_SERIALIZATION_PRIORITY, lambda storage: None, restore)
