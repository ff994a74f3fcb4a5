"""Makes the backend part of torch: loads it, names it, registers its module, its serialization and its end."""

from __future__ import annotations

import atexit
import sys
from typing import Any

import torch

from ._load import load_extension

NAME = "anvil"


def activate() -> None:
    """Once per process; a second call does nothing. Raises ImportError if the backend cannot work here."""
    if getattr(torch, NAME, None) is not None:
        return
    extension = load_extension()

    # What is queued is finished before the interpreter ends; after that the backend refuses work.
    atexit.register(extension._end)

    from . import _multiprocessing, anvil

    torch.utils.rename_privateuse1_backend(NAME)
    torch._register_device_module(NAME, anvil)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    _register_alias(anvil)
    _multiprocessing.register()
    torch.serialization.register_package(_ALIAS_PRIORITY, _no_tag, _restore_alias)


# Behind torch's own device packages (10 to 26), before the stand-in of the autoload module.
_ALIAS_PRIORITY = 90
_ALIAS = "privateuseone"


def _register_alias(module: Any) -> None:
    """torch.privateuseone stays a name of the device module, as "privateuseone" stays a name of the device."""
    torch.privateuseone = module  # type: ignore[attr-defined]
    sys.modules["torch.privateuseone"] = module
    # Modules that were looked up before the name was given.
    torch.get_device_module.cache_clear()
    torch._utils._get_device_module.cache_clear()


def _no_tag(storage: Any) -> None:
    """Storages are saved under the device's name, by torch itself."""


def _restore_alias(storage: Any, location: str) -> Any:
    """``map_location="privateuseone:1"``, and files that were saved under that name."""
    device, _, index = location.partition(":")
    if device != _ALIAS:
        return None
    return torch.serialization.default_restore_location(storage, NAME + (":" + index if index else ""))
