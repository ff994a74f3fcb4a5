"""Softmax, layer norm and batch norm, forward and backward, against the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

# Half and bfloat16 results are the float result rounded once; the CPU may round in between.
TOLERANCE = {
    torch.float32: {"rtol": 1e-5, "atol": 1e-5},
    torch.float64: {"rtol": 1e-9, "atol": 1e-9},
    torch.float16: {"rtol": 4e-3, "atol": 4e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}


@pytest.fixture(autouse=True)
def no_fallback():
    with torch.anvil.forbid_fallback():
        yield


def random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def with_gradients(operation, device, *tensors):
    """The operation's result and its gradients with respect to the floating tensors."""
    leaves = [t.detach().to(device).requires_grad_(t.is_floating_point()) for t in tensors]
    result = operation(*leaves)
    weights = random(*result.shape, dtype=tensors[0].dtype, seed=1).to(device, result.dtype)
    result.backward(weights)
    return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


def compare(operation, *tensors, dtype=torch.float32):
    # The CPU accumulates the gradients of 16-bit weights in 16 bits: the reference is computed in double.
    wide = [t.double() if t.dtype.itemsize == 2 else t for t in tensors]
    expected = [t.to(dtype) for t in with_gradients(operation, "cpu", *wide)]
    actual = with_gradients(operation, "anvil", *tensors)
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, **TOLERANCE[dtype])


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax], ids=["softmax", "log_softmax"])
@pytest.mark.parametrize(
    "shape, dim",
    [
        ((10,), 0),
        ((3, 10), 1),
        ((2, 5_003), 1),
        ((7, 300), 0),
        ((2, 3, 4, 5), 1),
        ((4, 1), 1),
        ((), 0),
    ],
)
@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_softmax_over_any_dimension(function, shape, dim, dtype):
    compare(lambda t: function(t, dim), random(*shape, dtype=dtype), dtype=dtype)


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax], ids=["softmax", "log_softmax"])
def test_softmax_of_large_values_does_not_overflow(function):
    compare(lambda t: function(t, -1), random(4, 33) * 1000)


def test_softmax_from_half_to_float_in_one_step():
    x = random(4, 33, dtype=torch.float16)
    ours = torch._softmax(x.to("anvil"), 1, True)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours.cpu(), x.float().softmax(1))


def test_softmax_of_nothing_and_of_views():
    assert F.softmax(torch.empty(3, 0, device="anvil"), 1).shape == (3, 0)
    compare(lambda t: F.softmax(t.t()[::2], 1), random(20, 30))


def test_logsumexp():
    compare(lambda t: torch.logsumexp(t, 1), random(20, 30))


@pytest.mark.parametrize(
    "shape, normalized", [((8, 16), (16,)), ((3, 5, 1_037), (1_037,)), ((4, 3, 5), (3, 5)), ((300, 7), (7,))]
)
@pytest.mark.parametrize("affine", ["both", "weight", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_layer_norm(shape, normalized, affine, dtype):
    parameters = {"both": 2, "weight": 1, "none": 0}[affine]
    tensors = [random(*normalized, dtype=dtype, seed=seed + 2) for seed in range(parameters)]
    if dtype == torch.bfloat16 and shape[0] == 300:
        pytest.skip("the CPU sums the weights' gradients over 300 rows in bfloat16; nothing to compare with")
    compare(lambda x, *wb: F.layer_norm(x, normalized, *wb), random(*shape, dtype=dtype), *tensors, dtype=dtype)


def test_layer_norm_of_half_with_float_parameters():
    x, weight, bias = random(6, 40, dtype=torch.float16), random(40, seed=2), random(40, seed=3)
    ours = F.layer_norm(x.to("anvil"), (40,), weight.to("anvil"), bias.to("anvil"))
    expected = F.layer_norm(x.float(), (40,), weight, bias).half()
    torch.testing.assert_close(ours.cpu(), expected, **TOLERANCE[torch.float16])


def test_layer_norm_of_nothing():
    x = torch.empty(0, 5, device="anvil", requires_grad=True)
    weight = torch.ones(5, device="anvil", requires_grad=True)
    F.layer_norm(x, (5,), weight).sum().backward()
    assert weight.grad.tolist() == [0.0] * 5


BATCH_SHAPES = [(8, 5), (6, 3, 4, 5), (4, 3, 7), (2, 4, 40, 41), (300, 2), (2, 3, 2, 3, 4), (64, 32, 8, 8)]


@pytest.mark.parametrize("shape", BATCH_SHAPES, ids=str)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm_and_its_gradients(shape, training, affine):
    channels = shape[1]
    parameters = [random(channels, seed=2), random(channels, seed=3)] if affine else []

    def operation(x, *parameters):
        mean, var = (t.to(x.device) for t in (random(channels, seed=4), random(channels, seed=5).abs() + 0.1))
        result = F.batch_norm(x, mean, var, *parameters, training=training, momentum=0.3)
        running.setdefault(x.device.type, (mean, var))
        return result

    running: dict = {}
    compare(operation, random(*shape), *parameters)
    for ours, theirs in zip(running["anvil"], running["cpu"], strict=True):
        torch.testing.assert_close(ours.cpu(), theirs)


def test_batch_norm_without_running_statistics():
    compare(lambda x: F.batch_norm(x, None, None, training=True), random(5, 3, 4, 4))


def test_batch_norm_keeps_the_channels_last():
    x = random(4, 20, 5, 6).to(memory_format=torch.channels_last)
    ours = F.batch_norm(x.to("anvil"), None, None, training=True)
    assert ours.is_contiguous(memory_format=torch.channels_last)
    compare(lambda t: F.batch_norm(t.contiguous(memory_format=torch.channels_last), None, None, training=True), x)


def test_batch_norm_of_half_with_float_statistics():
    x = random(6, 4, 5, 5, dtype=torch.float16)
    parameters = [random(4, seed=seed).abs() + 0.1 for seed in range(2, 6)]
    weight, bias, mean, var = (p.to("anvil") for p in parameters)
    ours = F.batch_norm(x.to("anvil"), mean, var, weight, bias, training=True)
    expected = F.batch_norm(x.float(), parameters[2], parameters[3], *parameters[:2], training=True)
    assert ours.dtype == torch.float16
    torch.testing.assert_close(ours.cpu(), expected.half(), **TOLERANCE[torch.float16])
    torch.testing.assert_close(mean.cpu(), parameters[2], rtol=1e-4, atol=1e-4)


def test_a_batch_norm_layer_trains_and_evaluates():
    ours, theirs = torch.nn.BatchNorm2d(3).to("anvil"), torch.nn.BatchNorm2d(3)
    for seed in range(3):
        x = random(4, 3, 5, 5, seed=seed)
        ours(x.to("anvil"))
        theirs(x)
    assert ours.num_batches_tracked.item() == 3
    torch.testing.assert_close(ours.running_var.cpu(), theirs.running_var)
    torch.testing.assert_close(ours.eval()(x.to("anvil")).cpu(), theirs.eval()(x))


@pytest.mark.parametrize("with_weight", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_group_norm_has_the_dtype_of_its_input(dtype, with_weight, with_bias):
    """Weights of half and bfloat16 are float, as under autocast."""
    x = random(3, 6, 4, 5, dtype=dtype)
    parameter_dtype = torch.float64 if dtype == torch.float64 else torch.float32
    weight = random(6, seed=1, dtype=parameter_dtype) if with_weight else None
    bias = random(6, seed=2, dtype=parameter_dtype) if with_bias else None
    on_device = [p if p is None else p.to("anvil") for p in (weight, bias)]
    ours = F.group_norm(x.to("anvil"), 3, *on_device)
    expected = F.group_norm(x.double(), 3, *(p if p is None else p.double() for p in (weight, bias)))
    assert ours.dtype == dtype
    torch.testing.assert_close(ours.cpu(), expected.to(dtype), **TOLERANCE[dtype])


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float16), (torch.float64, torch.float32)], ids=str)
def test_group_norm_refuses_weights_of_another_dtype(dtypes):
    x, weight = torch.ones(2, 4, 3, dtype=dtypes[0]), torch.ones(4, dtype=dtypes[1])
    for device in ("cpu", "anvil"):
        with pytest.raises(RuntimeError, match="mixed dtype"):
            F.group_norm(x.to(device), 2, weight.to(device), weight.to(device))


def test_the_gradients_of_group_norm_equal_cpu():
    """The CPU computes them, from the statistics that the device's forward saved."""
    ours, theirs = (random(2, 4, 3, 5).to(d).requires_grad_() for d in ("anvil", "cpu"))
    weights = [random(4, seed=1).to(x.device).requires_grad_() for x in (ours, theirs)]
    for x, weight in zip((ours, theirs), weights, strict=True):
        with torch.anvil.allow_fallback():
            F.group_norm(x, 2, weight, weight).square().sum().backward()
    torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-5)  # sums of 30 terms
    torch.testing.assert_close(weights[0].grad.cpu(), weights[1].grad, rtol=1e-4, atol=1e-5)
