"""Loads the binaries, after checking that they can work with the interpreter and the torch of this process."""

from __future__ import annotations

import os
import platform
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType

_FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY_FOLDER = os.path.join(_FOLDER, "lib")


def check_versions(torch_version: str) -> str | None:
    """What does not fit, or None. ``torch_version`` is the version of the torch in this process."""
    try:
        from . import _build_info as built
    except ImportError:
        return "torch_anvil is not built; install it with: pip install ."
    if not _same_release(torch_version, built.TORCH_VERSION):
        return (
            f"torch_anvil was built for torch {built.TORCH_VERSION}, but torch {torch_version} is installed; rebuild it with: "
            "pip install --force-reinstall --no-build-isolation . in its sources (or pip install torch=="
            f"{built.TORCH_VERSION.split('+')[0]})"
        )
    python = ".".join(platform.python_version_tuple()[:2])
    if python != built.PYTHON_VERSION:
        return f"torch_anvil was built for Python {built.PYTHON_VERSION}, but this is Python {python}; rebuild it for this one"
    return None


def check_libraries() -> str | None:
    """The first binary that is missing from the package, or None."""
    from ._build_info import LIBRARIES

    again = "install it again with: pip install --force-reinstall . in its sources"
    for name in LIBRARIES:
        if not os.path.exists(os.path.join(LIBRARY_FOLDER, name)):
            return f"torch_anvil has lost its library {name}; {again}"
    # Without it the import below would speak of a circular import.
    if not any(os.path.exists(os.path.join(_FOLDER, "_C" + suffix)) for suffix in EXTENSION_SUFFIXES):
        return f"torch_anvil has lost its extension _C{EXTENSION_SUFFIXES[0]}; {again}"
    return None


def load_extension() -> ModuleType:
    """The extension module. Raises ImportError with one line that says what is wrong."""
    import torch

    problem = check_versions(str(torch.__version__)) or check_libraries()
    if problem is not None:
        raise ImportError(problem)
    try:
        from . import _C
    except ImportError as error:
        raise ImportError(f"torch_anvil's libraries do not load: {str(error).splitlines()[0]}") from error
    return _C


def _same_release(found: str, built: str) -> bool:
    """torch's binary interface changes with each minor release; patches and build variants (``+cpu``) share it."""
    return found.split(".")[:2] == built.split(".")[:2]
