"""Reductions and scans against the CPU: layouts, dtypes, NaN, empty inputs, outputs, error messages."""

from __future__ import annotations

import pytest
import torch

FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGRAL = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]

# One kernel layout each: a team per output, parts of one output, several reduced dimensions, columns, few elements per
# output, an inner dimension that is no multiple of anything.
SHAPES = [
    ((7,), 0),
    ((100_003,), 0),
    ((3, 50_001), 1),
    ((300, 33), 0),
    ((5_000, 40), 0),
    ((4, 6, 31), (0, 2)),
    ((4, 6, 31), 1),
    ((2, 3, 4, 5), (1, 3)),
    ((70, 3), 1),
    ((1, 1), (0, 1)),
]


@pytest.fixture(autouse=True)
def no_fallback():
    with torch.anvil.forbid_fallback():
        yield


def compare(operation, *tensors, rtol=None, atol=None):
    """Runs ``operation`` on the device and on the CPU; results have one dtype, shape and value."""
    expected = operation(*tensors)
    actual = operation(*(tensor.to("anvil") for tensor in tensors))
    if isinstance(expected, torch.Tensor):
        expected, actual = (expected,), (actual,)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.device.type == "anvil"
        torch.testing.assert_close(ours.cpu(), theirs, rtol=rtol, atol=atol, equal_nan=True)


def random(shape, dtype):
    generator = torch.Generator().manual_seed(0)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 5, shape, generator=generator).to(dtype)


# The CPU sums half and bfloat16 in another order and rounds in between; one unit of bfloat16 is 2**-8.
LOW_PRECISION = {torch.float16: {"rtol": 2e-3, "atol": 2e-1}, torch.bfloat16: {"rtol": 1.6e-2, "atol": 1.0}}


@pytest.mark.parametrize("shape, dim", SHAPES)
@pytest.mark.parametrize("keepdim", [False, True])
def test_sum_of_every_layout(shape, dim, keepdim):
    x = random(shape, torch.float32)
    # Two orders of a sum of n terms of size 1 differ by some units of the largest partial sum.
    compare(lambda t: t.sum(dim, keepdim), x, rtol=1e-5, atol=1e-3)
    compare(lambda t: t.double().mean(dim, keepdim), x)


@pytest.mark.parametrize("dtype", FLOATING + INTEGRAL)
@pytest.mark.parametrize("shape, dim", [((1000,), 0), ((40, 33), 0), ((40, 33), 1)])
def test_sum_of_every_dtype(dtype, shape, dim):
    compare(lambda t: t.sum(dim), random(shape, dtype), **LOW_PRECISION.get(dtype, {"rtol": 1e-5, "atol": 1e-4}))


def test_integers_sum_to_int64_and_bool_counts():
    assert torch.ones(300, dtype=torch.uint8, device="anvil").sum().item() == 300
    counted = torch.ones(70_000, dtype=torch.bool, device="anvil").sum()
    assert counted.dtype == torch.int64 and counted.item() == 70_000


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_sums_to_float_without_rounding_to_half(dtype):
    x = torch.full((10_000,), 1.0, dtype=dtype)
    total = x.to("anvil").sum(dtype=torch.float32)
    assert total.dtype == torch.float32 and total.item() == 10_000


def test_half_accumulates_in_float():
    # Added one after another in half, 2048 + 1 is 2048.
    assert torch.ones(4096, dtype=torch.float16, device="anvil").sum().item() == 4096


def test_sum_to_another_category_converts_each_element():
    x = torch.tensor([0.5, 0.5, 1.5])
    compare(lambda t: t.sum(dtype=torch.int64), x)
    compare(lambda t: torch.tensor([1, -1], device=t.device).sum(dtype=torch.bool), x)
    compare(lambda t: t.sum(dtype=torch.float64), x)


def test_error_of_a_long_float_sum_stays_small():
    # Terms of one size: a running sum would be off by 1e-3 of the result.
    x = torch.full((2**22,), 0.1)
    # A lane adds 128 terms one after another; lanes and chunks (2^22 / 128 = 2^15 of them) are combined pairwise: at most
    # 128 + 15 roundings of 2^-24 each on the way of a term.
    total = x.to("anvil").sum().item()
    assert abs(total - x.double().sum().item()) <= (128 + 15) * 2**-24 * total


def test_sum_is_the_same_bits_each_time():
    x = random((100_003,), torch.float32).to("anvil")
    results = {x.sum().item() for _ in range(5)}
    assert len(results) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.t(),
        lambda x: x[::2, 1::3],
        lambda x: x.expand(3, *x.shape),
        lambda x: x[:, :0],
        lambda x: x.unsqueeze(1),
    ],
    ids=["transposed", "strided", "expanded", "empty", "unsqueezed"],
)
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_views_are_reduced_where_they_lie(make, dim):
    x = random((64, 48), torch.float32)
    compare(lambda t: make(t).sum(dim), x, rtol=1e-5, atol=1e-4)
    if make(x).numel():
        compare(lambda t: make(t).amax(dim if dim is not None else ()), x)
        compare(lambda t: make(t).argmax(dim), x)


@pytest.mark.parametrize(
    "operation",
    [
        torch.sum,
        torch.mean,
        torch.prod,
        torch.any,
        torch.all,
        torch.nansum,
        torch.var,
        torch.std,
        torch.linalg.vector_norm,
    ],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_empty_inputs_give_the_identity(operation):
    compare(operation, torch.empty(0))
    if operation is not torch.prod:
        compare(lambda t: operation(t, dim=1), torch.empty(3, 0))
        compare(lambda t: operation(t, dim=0), torch.empty(3, 0))


@pytest.mark.parametrize(
    "operation",
    [
        torch.max,
        torch.min,
        torch.argmax,
        torch.amax,
        lambda t: torch.max(t, 1),
        lambda t: torch.amax(t, 1),
        lambda t: torch.argmin(t, 1),
        torch.aminmax,
    ],
)
def test_extrema_of_nothing_are_the_cpu_s_error(operation):
    x = torch.empty(2, 0)
    with pytest.raises((RuntimeError, IndexError)) as expected:
        operation(x)
    with pytest.raises(expected.type) as actual:
        operation(x.to("anvil"))
    assert str(actual.value).split(".")[0] == str(expected.value).split(".")[0]


@pytest.mark.parametrize("dtype", FLOATING + INTEGRAL)
@pytest.mark.parametrize("shape, dim", [((1000,), 0), ((40, 33), 0), ((40, 33), 1), ((9, 3), 1)])
def test_extrema_of_every_dtype(dtype, shape, dim):
    x = random(shape, dtype)
    compare(lambda t: t.amax(dim), x)
    compare(lambda t: t.amin(dim), x)
    compare(lambda t: torch.aminmax(t, dim=dim), x)
    compare(torch.max, x)
    compare(torch.min, x)
    if dtype != torch.bool:
        # Ties: values only, the CPU promises no position.
        compare(
            lambda t: (
                t.gather(dim, t.argmax(dim, keepdim=True))
                if t.device.type == "cpu"
                else t.cpu().gather(dim, t.argmax(dim, keepdim=True).cpu()).to(t.device)
            ),
            x,
        )


def test_positions_are_those_of_the_first_extremum():
    x = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]], device="anvil")
    assert x.argmax(1).tolist() == [1, 0]
    assert x.argmin(1).tolist() == [0, 2]
    assert x.max(0).indices.tolist() == [1, 0, 0]
    assert x.argmax().item() == 1
    assert x.t().argmax().item() == 2  # counted in the view's own order


def test_nan_is_the_extremum_and_its_first_position_counts():
    x = torch.tensor([[1.0, float("nan"), 5.0, float("nan")], [1.0, -float("inf"), 5.0, 2.0]])
    for operation in (torch.amax, torch.amin, torch.argmax, torch.argmin):
        compare(lambda t: operation(t, dim=1), x)
    compare(torch.max, x)
    compare(lambda t: torch.min(t, 1), x)
    compare(torch.nansum, x)


def test_infinities_are_found():
    x = torch.full((100,), -float("inf"))
    compare(torch.max, x)
    compare(lambda t: t.argmax(0), x)


@pytest.mark.parametrize("dtype", FLOATING + INTEGRAL + [torch.complex64])
def test_any_and_all_of_every_dtype(dtype):
    x = random((33, 20), dtype if not dtype.is_complex else torch.float32).to(dtype)
    for operation in (torch.any, torch.all):
        compare(operation, x)
        compare(lambda t: operation(t, 0), x)
        compare(lambda t: operation(t, (0, 1), keepdim=True), x)
        compare(lambda t: operation(t, dim=[]), x)
        compare(operation, torch.zeros_like(x))


@pytest.mark.parametrize("dtype", FLOATING[:2] + INTEGRAL[1:] + [torch.complex64])
def test_prod(dtype):
    x = (random((5, 20), torch.float32) if dtype.is_floating_point or dtype.is_complex else random((5, 20), dtype)).to(dtype)
    compare(torch.prod, x)
    compare(lambda t: t.prod(0), x)
    compare(lambda t: t.prod(1, keepdim=True), x)


@pytest.mark.parametrize("shape, dim", SHAPES)
@pytest.mark.parametrize("correction", [0, 1, 2.5])
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_variance_of_every_layout(shape, dim, correction):
    x = random(shape, torch.float32)
    for operation in (torch.var, torch.std, torch.var_mean, torch.std_mean):
        compare(lambda t: operation(t, dim, correction=correction), x, rtol=1e-5, atol=1e-5)


def test_variance_of_values_far_from_zero():
    # By E[x^2] - E[x]^2 nothing would be left of it.
    x = random((20_000,), torch.float64).float() + 10_000
    ours = x.to("anvil").var().item()
    assert abs(ours - x.double().var().item()) < 1e-3


@pytest.mark.parametrize("p", [0, 1, 2, 3, 0.5, float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.complex64])
def test_vector_norms(p, dtype):
    x = random((40, 33), torch.float32).to(dtype)
    tolerance = {"rtol": 2e-3, "atol": 1e-3} if dtype == torch.float16 else {"rtol": 1e-5, "atol": 1e-5}
    compare(lambda t: torch.linalg.vector_norm(t, p), x, **tolerance)
    compare(lambda t: torch.linalg.vector_norm(t, p, dim=0, keepdim=True), x, **tolerance)
    compare(lambda t: t.norm(p), x, **tolerance)


def test_outputs_of_other_strides_are_filled():
    x = random((6, 5, 4), torch.float32).to("anvil")
    out = torch.empty(4, 6, device="anvil").t()
    torch.sum(x, 1, out=out)
    torch.testing.assert_close(out.cpu(), x.cpu().sum(1))
    values, indices = torch.empty(4, 6, device="anvil").t(), torch.empty(6, 4, dtype=torch.int64, device="anvil")
    torch.max(x, 1, out=(values, indices))
    expected = x.cpu().max(1)
    assert torch.equal(values.cpu(), expected.values) and torch.equal(indices.cpu(), expected.indices)


@pytest.mark.parametrize("dtype", FLOATING[:2] + INTEGRAL + [torch.complex64])
@pytest.mark.parametrize("shape, dim", [((1000,), 0), ((3, 700), 1), ((30, 200), 0), ((4, 5, 6), 1), ((), 0), ((3, 0), 1)])
def test_running_sums_and_products(dtype, shape, dim):
    x = (random(shape, torch.float32) if dtype.is_complex else random(shape, dtype)).to(dtype)
    compare(lambda t: t.cumsum(dim), x, rtol=1e-5, atol=1e-4)
    compare(lambda t: t.cumprod(dim), x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape, dim", [((1000,), 0), ((3, 700), 1), ((30, 200), 0)])
def test_running_extrema_and_logcumsumexp(shape, dim):
    x = random(shape, torch.float32)
    x.view(-1)[5] = float("nan")
    compare(lambda t: torch.cummax(t, dim), x)
    compare(lambda t: torch.cummin(t, dim), x)
    compare(lambda t: torch.logcumsumexp(t, dim), x)
    compare(lambda t: torch.cummax(t, dim), random(shape, torch.int32))


@pytest.mark.parametrize("values", [[0, 0], [0, 1], [1, 1]], ids=str)
@pytest.mark.parametrize(
    "dtype",
    [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)
def test_any_and_all_read_the_dtypes_that_are_only_stored(dtype, values):
    x = torch.tensor([values], dtype=torch.float32).to(dtype)
    for reduce in (torch.any, torch.all):
        assert torch.equal(reduce(x.to("anvil")).cpu(), reduce(x))
        assert torch.equal(reduce(x.to("anvil"), dim=1).cpu(), reduce(x, dim=1))
