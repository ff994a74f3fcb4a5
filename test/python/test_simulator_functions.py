"""The page of the simulator's functions, and what stock torch's libraries import of CUDA."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("libc10_cuda.so", "libtorch_cuda.so", "libtorch_python.so")

# Imported by stock's libraries and refused, with the reason.
REFUSED = {
    "cudaGraphConditionalHandleCreate": "conditional nodes run device code that decides",
    "cudaLibraryGetGlobal": "libraries are device code",
    "cudaLibraryGetKernel": "libraries are device code",
    "cudaLibraryGetKernelCount": "libraries are device code",
    "cudaLibraryGetManaged": "libraries are device code",
    "cudaLibraryGetUnifiedFunction": "libraries are device code",
    "cudaLibraryLoadData": "libraries are device code",
    "cudaLibraryLoadFromFile": "libraries are device code",
    "cudaLibraryUnload": "libraries are device code",
}


def generator():
    sys.path.insert(0, str(ROOT / "ci"))
    return importlib.import_module("simulator_functions")


def test_the_page_is_current():
    module = generator()
    assert module.PAGE.read_text() == module.page(), "run python ci/simulator_functions.py"


def test_a_function_is_implemented_or_refused():
    module = generator()
    assert not module.implemented() & (module.refused(module.SIMULATOR) | module.refused(module.SIMULATOR / "driver"))


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm (binutils) reads the imports")
@pytest.mark.skipif(not (torch.version.cuda or "").startswith("13."), reason="this torch has no libraries for CUDA 13")
def test_what_stock_imports_is_implemented():
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    imported = set()
    for library in LIBRARIES:
        output = subprocess.run(
            ["nm", "-D", "--undefined-only", os.path.join(folder, library)], capture_output=True, text=True, check=True
        ).stdout
        names = (line.split()[-1] for line in output.splitlines())
        imported |= {name.partition("@")[0] for name in names if name.endswith("@libcudart.so.13")}
    assert len(imported) > 100
    missing = imported - generator().implemented()
    assert missing == set(REFUSED) & imported
