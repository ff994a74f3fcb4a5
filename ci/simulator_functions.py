"""Writes docs/simulator_functions.md: which functions of CUDA the simulator has, and which it refuses.

    python ci/simulator_functions.py [--check]

Found in the sources: what ``ANVIL_EXPORT`` marks is implemented, what stands in the ``refused.inc`` files is refused.
``--check`` fails if the page is stale.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from generated_page import write_or_check

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "simulator_functions.md"
SIMULATOR = ROOT / "runtime" / "simulator"
EXPORTED = re.compile(r"^ANVIL_EXPORT\s[^;{]*?\b(_*cu\w+)\s*\(", re.MULTILINE)
REFUSED = re.compile(r"^X\((\w+)\)", re.MULTILINE)
PER_THREAD = re.compile(r"_pt[sd][sz]$")

TEXT = """\
# Functions of the simulator

Every function that `libcudart.so.13` exports exists. A refused one writes a line with its name and returns
`cudaErrorNotSupported`. Written by `python ci/simulator_functions.py`.

## Implemented

Runtime API ({runtime_count}):

{runtime}

Driver API, through `cudaGetDriverEntryPointByVersion` and `cuGetProcAddress` ({driver_count}):

{driver}

## Refused

Runtime API ({refused_count}, and {per_thread_count} functions with the suffix `_ptsz` or `_ptds`, for the per-thread default
stream):

{refused}

Driver API ({driver_refused_count}; any other name is not found):

{driver_refused}
"""


def implemented() -> set[str]:
    names: set[str] = set()
    for path in SIMULATOR.rglob("*.cpp"):
        names.update(EXPORTED.findall(path.read_text()))
    return names


def refused(folder: Path) -> set[str]:
    return set(REFUSED.findall((folder / "refused.inc").read_text()))


def is_driver(name: str) -> bool:
    return re.match(r"cu[A-Z]", name) is not None


def listed(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names, key=str.lower)) + "."


def page() -> str:
    have = implemented()
    runtime, driver = {n for n in have if not is_driver(n)}, {n for n in have if is_driver(n)}
    not_have = refused(SIMULATOR)
    per_thread = {n for n in not_have if PER_THREAD.search(n)}
    driver_not_have = refused(SIMULATOR / "driver")
    return TEXT.format(
        runtime_count=len(runtime),
        runtime=listed(runtime),
        driver_count=len(driver),
        driver=listed(driver),
        refused_count=len(not_have - per_thread),
        per_thread_count=len(per_thread),
        refused=listed(not_have - per_thread),
        driver_refused_count=len(driver_not_have),
        driver_refused=listed(driver_not_have),
    )


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), ROOT))
