"""Prints the requirement of CUDA toolkit parts at the version that the installed torch pins.

python ci/cuda_pin.py cudart,crt          cuda-toolkit[cudart,crt]==13.2.2
"""

from __future__ import annotations

import importlib.metadata
import re
import sys

# For a torch that was built without CUDA and pins nothing.
DEFAULT = "13.2.2"


def toolkit_version() -> str:
    for requirement in importlib.metadata.requires("torch") or []:
        match = re.match(r"cuda-toolkit(?:\[[^]]*\])?==([0-9.]+)", requirement)
        if match:
            return match.group(1)
    return DEFAULT


if __name__ == "__main__":
    print(f"cuda-toolkit[{sys.argv[1]}]=={toolkit_version()}")
