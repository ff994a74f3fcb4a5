"""Convolutions on the device against the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

DEVICE = torch.device("privateuseone:0")
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
# Sums of up to 60 products, rounded to 8 and 11 bits in different places.
TOLERANCE = {torch.bfloat16: (2e-2, 6e-2), torch.float16: (4e-3, 1e-2)}

CASES = {
    "1d": (1, dict(padding=1)),
    "1d dilated": (1, dict(dilation=2)),
    "2d": (2, dict(padding=1)),
    "2d strided": (2, dict(stride=2, padding=(1, 0))),
    "2d grouped dilated": (2, dict(groups=2, dilation=2)),
    "2d depthwise": (2, dict(groups=4)),
    "3d": (3, dict(padding=1)),
}


def assert_close(actual, expected):
    rtol, atol = TOLERANCE.get(expected.dtype, (None, None))
    torch.testing.assert_close(actual.detach().cpu(), expected.detach(), rtol=rtol, atol=atol)


def run(function, tensors, device):
    leaves = [t.to(device).requires_grad_() for t in tensors]
    output = function(*leaves)
    torch.manual_seed(1)
    grad = torch.randn(output.shape, dtype=torch.float64).to(output.dtype).to(device)
    return output, torch.autograd.grad(output, leaves, grad)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("case", CASES)
def test_convolution_and_its_gradients_equal_cpu(case, transposed, dtype):
    dims, options = CASES[case]
    if transposed:
        options = {**options, **({"stride": 2, "output_padding": 1} if "strided" in case else {})}
    function = getattr(F, f"conv_transpose{dims}d" if transposed else f"conv{dims}d")
    groups = options.get("groups", 1)
    torch.manual_seed(0)
    x = torch.randn(2, 4, *[7] * dims, dtype=torch.float64).to(dtype)
    shape = (4, 8 // groups) if transposed else (8, 4 // groups)
    w = torch.randn(*shape, *[3] * dims, dtype=torch.float64).to(dtype)
    b = torch.randn(8, dtype=torch.float64).to(dtype)
    expected, expected_grads = run(lambda *t: function(*t, **options), (x, w, b), "cpu")
    actual, actual_grads = run(lambda *t: function(*t, **options), (x, w, b), DEVICE)
    assert_close(actual, expected)
    for ours, theirs in zip(actual_grads, expected_grads):
        assert_close(ours, theirs)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("which", ["input", "weight"])
def test_channels_last_is_kept(dims, which):
    torch.manual_seed(0)
    memory_format = torch.channels_last if dims == 2 else torch.channels_last_3d
    x, w = torch.randn(2, 4, *[6] * dims), torch.randn(5, 4, *[3] * dims)
    ours = {"input": x.to(DEVICE), "weight": w.to(DEVICE)}
    ours[which] = ours[which].contiguous(memory_format=memory_format)
    function = getattr(F, f"conv{dims}d")
    output = function(ours["input"], ours["weight"])
    assert output.is_contiguous(memory_format=memory_format)
    assert_close(output, function(x, w))


def test_convolution_without_bias_has_no_bias_gradient():
    x = torch.randn(1, 2, 5, 5, device=DEVICE)
    w = torch.randn(3, 2, 3, 3, device=DEVICE, requires_grad=True)
    F.conv2d(x, w).sum().backward()
    assert w.grad.shape == w.shape


def test_an_empty_batch_gives_an_empty_output():
    w = torch.randn(3, 2, 3, 3, device=DEVICE)
    assert F.conv2d(torch.empty(0, 2, 5, 5, device=DEVICE), w).shape == (0, 3, 3, 3)


def test_integer_convolution_is_refused():
    x = torch.ones(1, 1, 4, 4, dtype=torch.int64, device=DEVICE)
    with pytest.raises((NotImplementedError, RuntimeError), match="not implemented for"):
        F.conv2d(x, x)


def ones(*sizes, dtype=torch.float32):
    return torch.ones(*sizes, device=DEVICE, dtype=dtype)


WRONG_CONVOLUTIONS = {
    "input dtype": (lambda x, w: F.conv2d(x.half(), w), "Input type .*Half.* weight type .*Float"),
    "weight dtype": (lambda x, w: F.conv2d(x, w.half()), "Input type .*Float.* weight type .*Half"),
    "bias dtype": (lambda x, w: F.conv2d(x, w, ones(4).half()), "bias type"),
    "bias size": (lambda x, w: F.conv2d(x, w, ones(5)), "expected bias to be 1-dimensional with 4 elements"),
    "dilation": (lambda x, w: F.conv2d(x, w, dilation=0), "dilation should be greater than zero"),
    "transposed dilation": (lambda x, w: F.conv_transpose2d(x, w[:3], dilation=0), "dilation should be greater than zero"),
    "stride": (lambda x, w: F.conv2d(x, w, stride=0), "non-positive stride"),
    "groups": (lambda x, w: F.conv2d(x, w, groups=2), "to have 6 channels, but got 3 channels"),
    "no groups": (lambda x, w: F.conv2d(x, w, groups=0), "non-positive groups"),
    "kernel": (lambda x, w: F.conv2d(x, ones(4, 3, 0, 3)), "kernel size should be greater than zero"),
    "output padding": (
        lambda x, w: F.conv_transpose2d(x, w[:3], output_padding=1),
        "output padding must be smaller than either stride or dilation",
    ),
    "no output": (lambda x, w: F.conv_transpose2d(x, w[:3], padding=9), "Output size is too small"),
}


@pytest.mark.parametrize("name", WRONG_CONVOLUTIONS)
def test_wrong_arguments_are_found_before_anything_is_queued(name):
    wrong, message = WRONG_CONVOLUTIONS[name]
    x, w = ones(1, 3, 8, 8), ones(4, 3, 3, 3)
    with pytest.raises(RuntimeError, match=message):
        wrong(x, w)
    torch.anvil.synchronize()  # and the device lives
    assert x.sum().item() == 192


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        ({"dtype": torch.float16}, "expected scalar type Float of grad_output, but found Half"),
        ({"sizes": (1, 4, 5, 5)}, r"Expected grad_output of size \[1, 4, 6, 6\], but got \[1, 4, 5, 5\]"),
        ({"sizes": (2, 4, 6, 6)}, "Expected grad_output of size"),
        ({"sizes": (1, 5, 6, 6)}, "Expected grad_output of size"),
    ],
)
def test_a_wrong_gradient_is_found_before_anything_is_queued(gradient, message):
    grad = ones(*gradient.get("sizes", (1, 4, 6, 6)), dtype=gradient.get("dtype", torch.float32))
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten.convolution_backward(
            grad, ones(1, 3, 8, 8), ones(4, 3, 3, 3), [4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True] * 3
        )
    torch.anvil.synchronize()
