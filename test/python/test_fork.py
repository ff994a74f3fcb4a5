"""Forked processes: a clear error where the device cannot work, CPU work as ever, and spawn as the way out."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

# Runs `body` in a forked child and prints what it printed; the child must end by itself with status 0.
FORK = """
import os, sys, torch

def in_child(body):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            body()
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
        sys.stdout.flush()
        sys.exit(0)  # the whole way out: atexit, destructors
    _, status = os.waitpid(child, 0)
    print("status", os.waitstatus_to_exitcode(status))
"""


class OfIndices(Dataset):
    """Items made on the CPU, or by way of the device."""

    def __init__(self, device: str) -> None:
        self.device = device

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return (torch.full((2,), float(index), device=self.device) * 2).cpu()


@pytest.mark.parametrize(
    "use",
    [
        "torch.ones(2, device='anvil')",
        "torch.ones(2).to('privateuseone')",
        "tensor + 1",
        "tensor.cpu()",
        "torch.anvil.synchronize()",
        "torch.anvil.Stream()",
        "torch.empty(2, pin_memory=True)",
        "torch.anvil.set_device(0)",
    ],
)
def test_use_after_fork_says_to_use_spawn(run_python, use):
    result = run_python(
        FORK
        + f"""
tensor = torch.ones(1000, device="anvil")
in_child(lambda: print("worked", {use}))
print("parent", tensor.sum().item())
"""
    )
    lines = result.stdout.splitlines()
    assert "spawn" in lines[0], result.stdout + result.stderr
    assert "worked" not in lines[0]
    assert lines[-2:] == ["status 0", "parent 1000.0"]


def test_the_child_sees_that_it_is_one(run_python):
    result = run_python(
        FORK
        + """
torch.ones(1, device="anvil")
print(torch.anvil._is_in_bad_fork(), torch.anvil.is_initialized())
in_child(lambda: print(torch.anvil._is_in_bad_fork(), torch.anvil.is_initialized()))
"""
    )
    assert result.stdout.splitlines() == ["False True", "True False", "status 0"], result.stderr


def test_cpu_work_goes_on_in_the_child(run_python):
    result = run_python(
        FORK
        + """
tensor, host = torch.ones(1000, device="anvil"), torch.ones(8).pin_memory()
event, stream = torch.anvil.Event(), torch.anvil.Stream()
event.record(stream)

def body():
    global tensor, host, event, stream
    torch.manual_seed(0)
    print(torch.arange(4).sum().item(), host.device)
    del tensor, event, stream  # the parent's; deleters do nothing here

in_child(body)
print(tensor.sum().item(), event.query())
"""
    )
    assert result.stdout.splitlines() == ["6 cpu", "status 0", "1000.0 True"], result.stderr


def test_a_fork_before_the_first_use_works(run_python):
    result = run_python(
        FORK
        + """
torch.manual_seed(1)
in_child(lambda: print(torch.ones(5, device="anvil").sum().item()))
print(torch.ones(4, device="anvil").sum().item())
"""
    )
    assert result.stdout.splitlines() == ["5.0", "status 0", "4.0"], result.stderr


def test_counting_devices_initialises_the_driver_and_a_fork_after_it_says_so(run_python):
    """As CUDA: cudaGetDeviceCount initialises the driver, which no forked child can use."""
    result = run_python(
        FORK
        + """
torch.anvil.device_count()
in_child(lambda: torch.ones(5, device="anvil"))
print(torch.ones(4, device="anvil").sum().item())
"""
    )
    lines = result.stdout.splitlines()
    assert "spawn" in lines[0], result.stderr
    assert lines[1:] == ["status 0", "4.0"]


@pytest.mark.parametrize("pin_memory", [False, True])
def test_forked_workers_that_stay_on_the_cpu_work(device, pin_memory):
    torch.ones(1, device=device)  # the parent uses the device
    loader = DataLoader(OfIndices("cpu"), batch_size=2, num_workers=2, multiprocessing_context="fork", pin_memory=pin_memory)
    batches = [batch.to(device, non_blocking=True) for batch in loader]
    assert torch.cat(batches)[:, 0].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert all(batch.is_pinned() == pin_memory for batch in loader)


def test_forked_workers_that_touch_the_device_get_the_clear_error(device):
    torch.ones(1, device=device)
    loader = DataLoader(OfIndices("anvil"), num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match="spawn"):
        next(iter(loader))


def test_spawned_workers_may_use_the_device(device):
    torch.ones(1, device=device)
    loader = DataLoader(OfIndices("anvil"), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    assert torch.cat(list(loader))[:, 1].tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
