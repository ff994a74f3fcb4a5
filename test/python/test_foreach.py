"""Operators over lists of tensors, fused optimizers and gradient scaling, against the CPU's."""

from __future__ import annotations

import pytest
import torch

DEVICE = torch.device("privateuseone:0")
# Empty, one element, and more than one chunk of 65,536 elements.
SIZES = [3, 70_001, 1, 0, 257]


def lists(dtype=torch.float32, count=1, sizes=SIZES):
    torch.manual_seed(0)
    host = [[(torch.rand(n) + 0.5).to(dtype) for n in sizes] for _ in range(count)]
    return host, [[t.to(DEVICE) for t in tensors] for tensors in host]


def assert_lists_close(ours, theirs, **tolerance):
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs):
        torch.testing.assert_close(our.cpu(), their, **tolerance)


SCALARS = [1.0, -2.0, 3.5, 4.0, 0.25]
CALLS = {
    "add.Scalar": lambda x, y, z: torch._foreach_add(x, 2.5),
    "add.ScalarList": lambda x, y, z: torch._foreach_add(x, SCALARS),
    "add.List": lambda x, y, z: torch._foreach_add(x, y, alpha=-3),
    "sub.Scalar": lambda x, y, z: torch._foreach_sub(x, 2.5),
    "sub.ScalarList": lambda x, y, z: torch._foreach_sub(x, SCALARS),
    "sub.List": lambda x, y, z: torch._foreach_sub(x, y, alpha=0.5),
    "mul.Scalar": lambda x, y, z: torch._foreach_mul(x, 2.5),
    "mul.ScalarList": lambda x, y, z: torch._foreach_mul(x, SCALARS),
    "mul.List": lambda x, y, z: torch._foreach_mul(x, y),
    "div.Scalar": lambda x, y, z: torch._foreach_div(x, 2.5),
    "div.ScalarList": lambda x, y, z: torch._foreach_div(x, SCALARS),
    "div.List": lambda x, y, z: torch._foreach_div(x, y),
    "clamp_min.Scalar": lambda x, y, z: torch._foreach_clamp_min(x, 1.0),
    "clamp_max.List": lambda x, y, z: torch._foreach_clamp_max(x, y),
    "addcmul.Scalar": lambda x, y, z: torch._foreach_addcmul(x, y, z, 0.5),
    "addcmul.ScalarList": lambda x, y, z: torch._foreach_addcmul(x, y, z, SCALARS),
    "addcdiv.Scalar": lambda x, y, z: torch._foreach_addcdiv(x, y, z, 0.5),
    "addcdiv.ScalarList": lambda x, y, z: torch._foreach_addcdiv(x, y, z, SCALARS),
    "addcdiv.Tensor": lambda x, y, z: torch._foreach_addcdiv(x, y, z, torch.tensor(SCALARS)),
    "lerp.Scalar": lambda x, y, z: torch._foreach_lerp(x, y, 0.7),
    "lerp.List": lambda x, y, z: torch._foreach_lerp(x, y, z),
    "abs": lambda x, y, z: torch._foreach_abs(torch._foreach_neg(x)),
    "exp": lambda x, y, z: torch._foreach_exp(x),
    "sqrt": lambda x, y, z: torch._foreach_sqrt(x),
    "rsqrt": lambda x, y, z: torch._foreach_rsqrt(x),
    "reciprocal": lambda x, y, z: torch._foreach_reciprocal(x),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_foreach_equals_cpu(name, dtype):
    host, device = lists(dtype, 3)
    with torch.anvil.forbid_fallback():
        ours = CALLS[name](*device)
    # 16-bit results: the CPU rounds between two operations, the kernels do not.
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype.itemsize == 2 else {}
    assert_lists_close(ours, CALLS[name](*host), **tolerance)


@pytest.mark.parametrize("name", ["add", "mul", "div"])
def test_in_place_with_a_scalar_on_the_device(name):
    (host,), (device,) = lists()
    factor = torch.tensor(1.5)
    with torch.anvil.forbid_fallback():
        getattr(torch, f"_foreach_{name}_")(device, factor.to(DEVICE))
    getattr(torch, f"_foreach_{name}_")(host, factor)
    assert_lists_close(device, host)


def test_integers_and_mixed_dtypes_take_upstreams_loop():
    host = [torch.arange(5), torch.arange(3, dtype=torch.int32), torch.ones(2)]
    device = [t.to(DEVICE) for t in host]
    assert_lists_close(torch._foreach_add(device, 2), torch._foreach_add(host, 2))


def test_many_small_tensors_need_few_launches():
    tensors = [torch.ones(7, device=DEVICE) for _ in range(500)]
    torch._foreach_mul_(tensors, 3.0)
    assert all(t.sum().item() == 21.0 for t in tensors[::49])


def test_nan_propagates_through_clamp():
    nan = [torch.tensor([float("nan"), 1.0], device=DEVICE)]
    for result in (torch._foreach_clamp_min(nan, 0.5), torch._foreach_clamp_max(nan, 0.5)):
        assert torch.isnan(result[0].cpu()[0])


def test_different_lengths_are_an_error():
    _, (device,) = lists()
    with pytest.raises(RuntimeError, match="same number of tensors|must have the same number"):
        torch._foreach_add(device, device[:-1])


OPTIMIZERS = {
    "adamw": lambda p, **kw: torch.optim.AdamW(p, lr=0.1, **kw),
    "adam-amsgrad": lambda p, **kw: torch.optim.Adam(p, lr=0.1, amsgrad=True, weight_decay=0.1, **kw),
    "adamw-maximize": lambda p, **kw: torch.optim.AdamW(p, lr=0.1, maximize=True, **kw),
    "adam-tensor-lr": lambda p, **kw: torch.optim.Adam(p, lr=torch.tensor(0.1), **kw),
    "sgd": lambda p, **kw: torch.optim.SGD(p, lr=0.1, **kw),
    "sgd-nesterov": lambda p, **kw: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1, **kw),
}


def steps(optimizer, device, form):
    torch.manual_seed(1)
    parameters = [torch.randn(n).to(device).requires_grad_() for n in (5, 300)]
    instance = OPTIMIZERS[optimizer](parameters, **form)
    for step in range(4):
        torch.manual_seed(step)
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape).to(device)
        instance.step()
    return [p.detach() for p in parameters]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("form", [{"fused": True}, {"foreach": True}, {"foreach": False}], ids=str)
def test_optimizers_equal_the_single_tensor_form_on_the_cpu(optimizer, form):
    if "tensor-lr" in optimizer and form.get("foreach"):
        pytest.skip("torch allows a tensor lr with foreach=True only together with capturable=True")
    with torch.anvil.forbid_fallback():
        ours = steps(optimizer, DEVICE, form)
    assert_lists_close(ours, steps(optimizer, "cpu", {"foreach": False}))


def test_fused_step_is_skipped_where_an_infinity_was_found():
    parameter = torch.ones(4, device=DEVICE, requires_grad=True)
    parameter.grad = torch.full((4,), float("inf"), device=DEVICE)
    optimizer = torch.optim.AdamW([parameter], fused=True)
    scaler = torch.amp.GradScaler("anvil", init_scale=8.0)
    scaler.scale(torch.zeros((), device=DEVICE))  # makes the scale
    scaler.step(optimizer)
    scaler.update()
    assert parameter.detach().cpu().tolist() == [1.0] * 4
    assert scaler.get_scale() == 4.0


@pytest.mark.parametrize("bad", [float("inf"), float("nan"), None])
def test_unscale_finds_what_is_not_finite(bad):
    gradients = [torch.ones(70_000, device=DEVICE), torch.ones(3, 4, device=DEVICE).t(), torch.ones(6, device=DEVICE)[::2]]
    if bad is not None:
        gradients[0][69_999] = bad
    found = torch.zeros(1, device=DEVICE)
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor([0.5], device=DEVICE))
    assert found.item() == (0.0 if bad is None else 1.0)
    assert gradients[1].cpu().eq(0.5).all() and gradients[2].cpu().eq(0.5).all()


def test_scale_grows_after_the_interval():
    scale = torch.tensor([2.0], device=DEVICE)
    tracker = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    found = torch.zeros(1, device=DEVICE)
    values = []
    for _ in range(4):
        torch._amp_update_scale_(scale, tracker, found, 3.0, 0.5, 2)
        values.append(scale.item())
    assert values == [2.0, 6.0, 6.0, 18.0]
