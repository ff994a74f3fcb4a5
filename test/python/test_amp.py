"""Autocast and the gradient scaler."""

from __future__ import annotations

import pytest
import torch


def test_autocast_has_cudas_lists(device):
    matrix = torch.ones(4, 4, device=device)
    with torch.autocast("privateuseone", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("anvil")
        assert torch.get_autocast_dtype("anvil") == torch.bfloat16
        product = matrix @ matrix
        assert product.dtype == torch.bfloat16
        assert product.softmax(1).dtype == torch.float32
        assert (product + matrix).dtype == torch.float32
    assert (matrix @ matrix).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_device_modules_autocast(device, dtype):
    with torch.anvil.amp.autocast(dtype=dtype):
        assert torch.nn.functional.linear(torch.ones(2, 3, device=device), torch.ones(4, 3, device=device)).dtype == dtype


def test_a_dtype_that_autocast_cannot_lower_to_is_refused_with_those_it_can(device):
    with pytest.warns(UserWarning, match="float16, torch.bfloat16|bfloat16"), torch.autocast("anvil", dtype=torch.float32):
        assert not torch.is_autocast_enabled("anvil")


def train_in_mixed_precision(device_type, enabled):
    """Final loss of a small regression, in float16 with a scaled loss or in float32."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to(device_type)
    inputs = torch.randn(64, 8).to(device_type)
    targets = inputs.square().sum(1, keepdim=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler(device_type, init_scale=2.0**10, enabled=enabled)
    for _ in range(60):
        optimizer.zero_grad()
        with torch.autocast(device_type, dtype=torch.float16, enabled=enabled):
            loss = torch.nn.functional.mse_loss(model(inputs).float(), targets)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


def test_training_with_autocast_and_scaler_learns_as_float32_on_the_cpu_does():
    # float16 has 11 bits: after 60 steps the losses differ by rounding that the steps have amplified, well under 2%.
    assert train_in_mixed_precision("anvil", True) == pytest.approx(train_in_mixed_precision("cpu", False), rel=0.02)


def test_the_scaler_skips_a_step_with_infinities_and_halves_its_scale(device):
    parameter = torch.nn.Parameter(torch.ones(3, device=device))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler = torch.anvil.amp.GradScaler(init_scale=4.0)
    scaler.scale((parameter * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert parameter.tolist() == [1, 1, 1]
    assert scaler.get_scale() == 2.0
