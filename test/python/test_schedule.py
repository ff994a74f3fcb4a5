"""A seeded adversarial schedule of whatever the API leaves unordered must not change a result."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
import torch

# Two streams, both devices, events, memory that is freed while work is queued, pinned copies in flight, an optimizer. Every
# order that CUDA's rules leave open gives the same bits, because the program synchronises correctly.
PROGRAM = textwrap.dedent(
    """
    import hashlib
    import torch

    torch.manual_seed(0)
    device = torch.device("privateuseone:0")
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Dropout(0.2), torch.nn.Linear(36, 10),
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    side = torch.Stream(device)
    hosts = [torch.randn(16, 1, 8, 8).pin_memory() for _ in range(6)]
    digest = hashlib.sha256()
    for step, host in enumerate(hosts):
        with side:
            batch = host.to(device, non_blocking=True)
            scaled = batch * 0.5 + 0.25
            del batch
        ready = side.record_event()
        torch.accelerator.current_stream(device).wait_event(ready)
        scaled.record_stream(torch.accelerator.current_stream(device))
        target = torch.arange(16, device=device) % 10
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(scaled), target)
        loss.backward()
        optimizer.step()
        del scaled
        other = loss.detach().to("privateuseone:1")
        digest.update(str((other * 3).item()).encode())
    for parameter in model.parameters():
        digest.update(parameter.detach().cpu().numpy().tobytes())
    print(digest.hexdigest())
    """
)


def run(schedule: str | None) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "ANVIL_SIMULATOR_SCHEDULE"}
    environment["ANVIL_FALLBACK"] = "forbid"
    if schedule is not None:
        environment["ANVIL_SIMULATOR_SCHEDULE"] = schedule
    result = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture(scope="module")
def in_order() -> str:
    if torch.anvil.driver() != "simulator":
        pytest.skip("only the simulator has a schedule to choose")
    return run(None)


@pytest.mark.parametrize("seed", range(6))
def test_adversarial_schedule_does_not_change_training(seed, in_order):
    assert run(str(seed)) == in_order
