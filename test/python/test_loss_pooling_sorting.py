"""Losses over classes, pooling and sorting against the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F


@pytest.fixture(autouse=True)
def no_fallback():
    with torch.anvil.forbid_fallback():
        yield


def random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def compare(operation, *tensors, **tolerance):
    """Result and gradient of ``operation(tensor, ...)`` on the device and on the CPU."""
    results = []
    for device in ("anvil", "cpu"):
        leaves = [t.to(device) for t in tensors]
        leaves[0] = leaves[0].detach().requires_grad_()
        result = operation(*leaves)
        result.backward(random(*result.shape, dtype=result.dtype, seed=1).to(device))
        results.append((result.detach().cpu(), leaves[0].grad.cpu()))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True, **tolerance)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(9, 4), (4,), (2, 4, 3, 5), (2, 4, 6), (2_000, 4)], ids=str)
def test_cross_entropy(shape, reduction, weighted):
    classes = 4
    target_shape = () if len(shape) == 1 else (shape[0], *shape[2:])
    target = torch.randint(0, classes, target_shape, generator=torch.Generator().manual_seed(2))
    if target.dim():
        target.view(-1)[0] = -100  # ignored
    weight = [random(classes, seed=3).abs()] if weighted else []
    compare(lambda x, t, *w: F.cross_entropy(x, t, *w, reduction=reduction), random(*shape), target, *weight)


def test_cross_entropy_with_label_smoothing():
    target = torch.tensor([0, 3, 1])
    compare(lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), random(3, 4), target)


def test_loss_of_ignored_or_no_samples():
    x = random(2, 3).log_softmax(1)
    compare(lambda t: F.nll_loss(t, torch.full((2,), -100, device=t.device)), x)
    empty = torch.empty(0, 3, device="anvil")
    assert F.nll_loss(empty, torch.empty(0, dtype=torch.int64, device="anvil")).isnan()


def test_a_target_out_of_range_is_an_asynchronous_error(run_python):
    result = run_python(
        """
        import torch
        x = torch.zeros(2, 3, device="anvil")
        loss = torch.nn.functional.nll_loss(x, torch.tensor([0, 3], device="anvil"))  # enqueued: no error yet
        try:
            torch.anvil.synchronize()
        except RuntimeError as error:
            print("raised at the synchronisation")
        """
    )
    assert "raised at the synchronisation" in result.stdout, result.stderr
    assert "target out of range" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0), "dilation": (2, 3)},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_max_pool(arguments, channels_last, dtype):
    x = random(2, 3, 11, 13, dtype=dtype)
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
    compare(lambda t: F.max_pool2d(t, **arguments), x)
    ours = F.max_pool2d(x.to("anvil"), **arguments, return_indices=True)
    theirs = F.max_pool2d(x, **arguments, return_indices=True)
    assert torch.equal(ours[1].cpu(), theirs[1])
    assert ours[0].stride() == theirs[0].stride()


def test_max_pool_of_one_image_and_of_nan():
    x = random(3, 6, 6)
    x[0, 2, 2] = float("nan")
    compare(lambda t: F.max_pool2d(t, 2), x)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False, "ceil_mode": True},
        {"kernel_size": (2, 3), "stride": (1, 2), "divisor_override": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("channels_last", [False, True])
def test_average_pool(arguments, channels_last):
    x = random(2, 3, 11, 13)
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
    compare(lambda t: F.avg_pool2d(t, **arguments), x)


@pytest.mark.parametrize("size", [1, (5, 7), (11, 13), (3, 20)], ids=str)
def test_adaptive_average_pool(size):
    compare(lambda t: F.adaptive_avg_pool2d(t, size), random(2, 3, 11, 13))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int32, torch.uint8, torch.bool])
@pytest.mark.parametrize("shape, dim", [((7,), 0), ((3, 1_000), 1), ((2, 5_000), 1), ((300, 4), 0), ((1,), 0), ((4, 0), 1)])
@pytest.mark.parametrize("descending", [False, True])
def test_stable_sort(dtype, shape, dim, descending):
    x = (random(*shape) * 10).to(dtype)
    ours = torch.sort(x.to("anvil"), dim=dim, descending=descending, stable=True)
    theirs = torch.sort(x, dim=dim, descending=descending, stable=True)
    assert torch.equal(ours.values.cpu(), theirs.values)
    assert torch.equal(ours.indices.cpu(), theirs.indices)


def test_nan_sorts_as_the_largest():
    x = random(2_000)
    x[::100] = float("nan")
    for descending in (False, True):
        ours = torch.sort(x.to("anvil"), descending=descending, stable=True)
        theirs = torch.sort(x, descending=descending, stable=True)
        torch.testing.assert_close(ours.values.cpu(), theirs.values, equal_nan=True, rtol=0, atol=0)
        assert torch.equal(ours.indices.cpu(), theirs.indices)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("shape, k, dim", [((50,), 5, 0), ((3, 2_000), 10, 1), ((40, 6), 40, 0), ((4, 5), 0, 1)])
def test_topk(shape, k, dim, largest):
    x = random(*shape)
    ours = x.to("anvil").topk(k, dim, largest)
    theirs = x.topk(k, dim, largest)
    assert torch.equal(ours.values.cpu(), theirs.values)
    assert torch.equal(ours.indices.cpu(), theirs.indices)


def test_argsort_and_gradient_of_sort():
    assert torch.equal(torch.argsort(random(30).to("anvil")).cpu(), torch.argsort(random(30)))


@pytest.mark.parametrize("which, x, y", [("input", 1.5, 0.5), ("input", "nan", 0.5), ("target", 0.5, -0.5)])
def test_binary_cross_entropy_outside_of_zero_and_one_fails(which, x, y, run_python):
    """As on CUDA: a device-side assertion."""
    result = run_python(
        f"""
        import torch
        x, y = (torch.tensor([0.0, 1.0, float(v)], device="anvil") for v in ("{x}", "{y}"))
        torch.nn.functional.binary_cross_entropy(x[:2], y[:2].clamp(0, 1))
        torch.anvil.synchronize()
        try:
            torch.nn.functional.binary_cross_entropy(x, y)
            torch.anvil.synchronize()
        except RuntimeError:
            print("failed", flush=True)
        """
    )
    assert "failed" in result.stdout, result.stderr
    assert f"all elements of {which} should be between 0 and 1" in result.stderr
