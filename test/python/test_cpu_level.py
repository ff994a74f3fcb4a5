"""Which library of the simulator's kernels a processor gets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("ANVIL_DRIVER") == "cuda", reason="the level of the host's processor decides only the simulator's kernels"
)

SCRIPT = """
import torch
try:
    torch.ones(3, device="anvil").neg_()
except (RuntimeError, ValueError) as error:
    print(error)
"""


def output_with(level: str) -> str:
    environment = {**os.environ, "ANVIL_DRIVER": "simulator", "ANVIL_CPU_LEVEL": level}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_processor_below_every_library_gets_an_error_that_names_both_levels_and_the_build_option() -> None:
    message = output_with("x86-64-v2")
    assert "this one has x86-64-v2" in message
    assert "-DANVIL_CPU_LEVEL=x86-64-v3" in message


def test_an_unknown_level_is_an_error_that_lists_the_known_ones() -> None:
    message = output_with("avx2")
    assert "ANVIL_CPU_LEVEL=avx2 is not known" in message
    assert "x86-64-v2, x86-64-v3 or x86-64-v4" in message
