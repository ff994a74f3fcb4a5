"""Matrix products on the device against the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

DEVICE = torch.device("privateuseone:0")
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.complex64, torch.complex128]
# The CPU rounds the intermediate of half and bfloat16 products where the device rounds the result.
TOLERANCE = {torch.bfloat16: (2e-2, 2e-2), torch.float16: (2e-3, 2e-3)}


def assert_close(actual, expected):
    rtol, atol = TOLERANCE.get(expected.dtype, (None, None))
    torch.testing.assert_close(actual.cpu(), expected, rtol=rtol, atol=atol)


def random(*shape, dtype):
    return torch.randn(shape, dtype=torch.complex128 if dtype.is_complex else torch.float64).to(dtype)


LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.mT.contiguous().mT,
    "strided": lambda t: torch.stack([t, t], -1).select(-1, 0),
    "padded rows": lambda t: F.pad(t, (0, 3))[..., : t.shape[-1]],
}


def on_device(tensor):
    """The tensor on the device with the same strides."""
    result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=DEVICE)
    return result.copy_(tensor)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("a_layout", LAYOUTS)
@pytest.mark.parametrize("b_layout", LAYOUTS)
def test_mm_reads_every_layout(dtype, a_layout, b_layout):
    torch.manual_seed(0)
    a = LAYOUTS[a_layout](random(5, 7, dtype=dtype))
    b = LAYOUTS[b_layout](random(7, 3, dtype=dtype))
    assert_close(torch.mm(on_device(a), on_device(b)), torch.mm(a, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (3,), (1, 3), (5, 1), (1,), ()], ids=str)
@pytest.mark.parametrize("beta, alpha", [(1, 1), (0.5, 2), (0, 1)])
def test_addmm_broadcasts_and_scales_self(dtype, shape, beta, alpha):
    torch.manual_seed(0)
    c, a, b = random(*shape, dtype=dtype), random(5, 7, dtype=dtype), random(7, 3, dtype=dtype)
    actual = torch.addmm(c.to(DEVICE), a.to(DEVICE), b.to(DEVICE), beta=beta, alpha=alpha)
    assert_close(actual, torch.addmm(c, a, b, beta=beta, alpha=alpha))


def test_addmm_with_beta_zero_ignores_nan():
    a, b = torch.randn(2, 3), torch.randn(3, 4)
    nan = torch.full((2, 4), float("nan"))
    assert_close(torch.addmm(nan.to(DEVICE), a.to(DEVICE), b.to(DEVICE), beta=0), a @ b)


@pytest.mark.parametrize("size", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_products_with_an_empty_extent_equal_cpu(size):
    m, k, n = size
    a, b, c = torch.randn(m, k), torch.randn(k, n), torch.randn(m, n)
    assert_close(torch.mm(a.to(DEVICE), b.to(DEVICE)), a @ b)
    assert_close(torch.addmm(c.to(DEVICE), a.to(DEVICE), b.to(DEVICE), beta=2), torch.addmm(c, a, b, beta=2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_batched_products_equal_cpu(dtype):
    torch.manual_seed(0)
    a, b, c = random(4, 5, 7, dtype=dtype), random(4, 7, 3, dtype=dtype), random(4, 5, 3, dtype=dtype)
    assert_close(torch.bmm(a.to(DEVICE), b.to(DEVICE)), torch.bmm(a, b))
    assert_close(torch.bmm(on_device(a.mT), on_device(c)), torch.bmm(a.mT, c))
    actual = torch.baddbmm(c.to(DEVICE), a.to(DEVICE), b.to(DEVICE), beta=0.5, alpha=2)
    assert_close(actual, torch.baddbmm(c, a, b, beta=0.5, alpha=2))
    expanded = a[:1].expand(4, 5, 7)
    assert_close(torch.bmm(a[:1].to(DEVICE).expand(4, 5, 7), b.to(DEVICE)), torch.bmm(expanded, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_vectors_equal_cpu(dtype):
    torch.manual_seed(0)
    a, x, y = random(5, 7, dtype=dtype), random(7, dtype=dtype), random(5, dtype=dtype)
    assert_close(torch.mv(a.to(DEVICE), x.to(DEVICE)), torch.mv(a, x))
    actual = torch.addmv(y.to(DEVICE), a.to(DEVICE), x.to(DEVICE), beta=0.5, alpha=2)
    assert_close(actual, torch.addmv(y, a, x, beta=0.5, alpha=2))
    assert_close(torch.dot(x.to(DEVICE), x.to(DEVICE)), torch.dot(x, x))
    assert_close(torch.vdot(x.to(DEVICE), x.to(DEVICE)), torch.vdot(x, x))


def test_conjugated_operands_are_resolved():
    a, b = torch.randn(3, 4, dtype=torch.complex64), torch.randn(3, 5, dtype=torch.complex64)
    assert_close(a.to(DEVICE).mH @ b.to(DEVICE), a.mH @ b)


def test_out_may_be_transposed():
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    out = torch.empty(5, 3, device=DEVICE).t()
    torch.mm(a.to(DEVICE), b.to(DEVICE), out=out)
    assert out.stride() == (1, 3)
    assert_close(out, a @ b)


def test_linear_and_its_gradients_equal_cpu():
    torch.manual_seed(0)
    inputs = [torch.randn(2, 5, 7), torch.randn(3, 7), torch.randn(3)]
    results = []
    for device in ("cpu", DEVICE):
        x, w, b = (t.to(device).requires_grad_() for t in inputs)
        y = F.linear(x, w, b)
        results.append([y, *torch.autograd.grad(y, (x, w, b), torch.ones_like(y))])
    for expected, actual in zip(*results):
        assert_close(actual.detach(), expected.detach())


def test_integer_products_are_refused_as_on_cuda():
    a = torch.ones(2, 2, dtype=torch.int64, device=DEVICE)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.mm(a, a)


def test_products_run_in_stream_order_with_kernels():
    a = torch.randn(64, 64)
    x = a.to(DEVICE)
    for _ in range(5):
        x = torch.mm(x, x).div_(8)
        a = torch.mm(a, a).div_(8)
    torch.testing.assert_close(x.cpu(), a)


def of_dtypes(*shapes_and_dtypes):
    return [torch.ones(shape, dtype=dtype) for shape, dtype in shapes_and_dtypes]


FLOAT, DOUBLE, HALF = torch.float32, torch.float64, torch.float16


@pytest.mark.parametrize(
    "product, operands",
    [
        (torch.mm, of_dtypes(((2, 3), FLOAT), ((3, 3), DOUBLE))),
        (torch.mm, of_dtypes(((2, 3), HALF), ((3, 3), FLOAT))),
        (torch.matmul, of_dtypes(((3,), FLOAT), ((3, 3), DOUBLE))),
        (torch.bmm, of_dtypes(((1, 2, 3), FLOAT), ((1, 3, 3), DOUBLE))),
        (F.linear, of_dtypes(((2, 3), FLOAT), ((3, 3), DOUBLE))),
        (F.linear, of_dtypes(((2, 3), FLOAT), ((3, 3), FLOAT), ((3,), DOUBLE))),
        (torch.mv, of_dtypes(((2, 3), FLOAT), ((3,), DOUBLE))),
        (torch.addmv, of_dtypes(((2,), DOUBLE), ((2, 3), FLOAT), ((3,), FLOAT))),
        (torch.addmm, of_dtypes(((2, 2), DOUBLE), ((2, 3), FLOAT), ((3, 2), FLOAT))),
        (torch.addmm, of_dtypes(((2, 2), FLOAT), ((2, 3), FLOAT), ((3, 2), DOUBLE))),
        (torch.baddbmm, of_dtypes(((1, 2, 3), FLOAT), ((1, 2, 3), FLOAT), ((1, 3, 3), DOUBLE))),
        (torch.baddbmm, of_dtypes(((1, 2, 3), DOUBLE), ((1, 2, 3), FLOAT), ((1, 3, 3), FLOAT))),
        (torch.dot, of_dtypes(((3,), FLOAT), ((3,), DOUBLE))),
    ],
)
def test_products_of_mixed_dtypes_are_refused_as_on_the_cpu(product, operands):
    with pytest.raises(RuntimeError):
        product(*operands)
    with pytest.raises(RuntimeError, match="dtype"):
        product(*(operand.to("anvil") for operand in operands))


def test_the_error_of_a_mixed_product_names_both_dtypes():
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype, but got: float != double"):
        torch.ones(2, 3, device="anvil") @ torch.ones(3, 3, dtype=DOUBLE, device="anvil")
