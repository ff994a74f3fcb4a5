"""What the Python tests share: the devices, and processes of their own for what can only be seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest
import torch

if getattr(torch, "anvil", None) is None:
    pytest.exit("torch has no device 'anvil': run bash ci/test.sh, or see python -m torch_anvil", returncode=2)

# The nightly run repeats what depends on timing.
FULL = os.environ.get("ANVIL_TEST_FULL", "0") == "1"

RunPython = Callable[..., subprocess.CompletedProcess]


@pytest.fixture(scope="session")
def driver() -> str:
    """``"CUDA"`` or ``"simulator"``: what the devices of this run are."""
    return torch.anvil.driver()


@pytest.fixture
def device() -> torch.device:
    return torch.device("anvil:0")


@pytest.fixture
def other_device() -> torch.device:
    if torch.anvil.device_count() < 2:
        pytest.skip("needs two devices; this machine's driver has one")
    return torch.device("anvil:1")


@pytest.fixture(autouse=True)
def first_device_and_default_stream():
    """Every test starts, and leaves the next one, with device 0 and its default stream."""
    yield
    if not torch.anvil._is_in_bad_fork():
        for index in reversed(range(torch.anvil.device_count())):
            torch.anvil.set_stream(torch.anvil.default_stream(index))


@pytest.fixture
def run_python() -> RunPython:
    """Runs a program in a process of its own: ``run_python(program, NAME=value)``.

    Its environment is this process's with the given changes (None removes a variable). A process that does not end within
    ``timeout`` seconds fails the test: it hangs.
    """

    def run(program: str, *arguments: str, timeout: float = 120, **environment: str | None):
        changed = {**os.environ, **environment}
        command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
        try:
            return subprocess.run(
                command,
                env={name: value for name, value in changed.items() if value is not None},
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as expired:
            pytest.fail(f"the process hangs; its output so far:\n{expired.stdout}\n{expired.stderr}")

    return run
