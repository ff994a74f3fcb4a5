"""The elementwise driver: what every elementwise operator shares. The CPU is the reference.

Operators one by one are compared by test_operators.py. Values are exact unless a tolerance stands beside its reason.
"""

from __future__ import annotations

import itertools

import pytest
import torch

DEVICE = "anvil"
FLOATING = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
COMPLEX = [torch.complex64, torch.complex128]
ALL = [*FLOATING, *INTEGERS, torch.bool, *COMPLEX]


def values(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(torch.bool)
    if dtype in INTEGERS:
        low = 0 if dtype == torch.uint8 else -100
        return torch.randint(low, 100, shape, generator=generator, dtype=torch.int64).to(dtype)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def assert_same(device: torch.Tensor, cpu: torch.Tensor) -> None:
    assert device.device.type == DEVICE
    torch.testing.assert_close(device.cpu(), cpu, rtol=0, atol=0, equal_nan=True)


# A dense run, rows shorter and longer than the driver's chunks, permuted, stepped, expanded, empty and 0-dimensional.
LAYOUTS = {
    "dense": lambda t: t,
    "transposed": lambda t: t.transpose(-1, -2) if t.dim() > 1 else t,
    "stepped": lambda t: t[..., ::2],
    "offset": lambda t: t[..., 1:],
    "expanded": lambda t: t[:1].expand_as(t) if t.dim() > 0 else t,
    "permuted": lambda t: t.permute(*reversed(range(t.dim()))),
}
SHAPES = [(0,), (1,), (7,), (4099,), (1000, 3), (3, 1000), (5, 67, 9), (2, 3, 4, 5, 6)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_layouts_of_inputs_and_outputs_do_not_change_values(layout: str, shape: tuple[int, ...]) -> None:
    view = LAYOUTS[layout]
    a, b = values(shape, torch.float32), values(shape, torch.float32, seed=1)
    x, y = view(a.to(DEVICE)), b.to(DEVICE)
    y = view(y)
    assert_same(x + y, view(a) + view(b))
    target = torch.zeros_like(a)
    expected = view(target) if layout != "expanded" else target
    out = target.to(DEVICE)
    result = view(out) if layout != "expanded" else out
    torch.mul(x, y, out=result)
    torch.mul(view(a), view(b), out=expected)
    assert_same(out, target)


def test_zero_dimensional_tensors_are_operands() -> None:
    a, b = torch.tensor(2.5), torch.tensor(4.0)
    assert_same(a.to(DEVICE) * b.to(DEVICE), a * b)
    assert_same(values((5,), torch.float32).to(DEVICE) * b.to(DEVICE), values((5,), torch.float32) * b)


def test_dimensions_that_cannot_be_merged_are_walked() -> None:
    a = values((2,) * 10, torch.float32).permute(9, 0, 8, 1, 7, 2, 6, 3, 5, 4)[..., :1, :]
    assert_same(a.to(DEVICE).contiguous() - a.to(DEVICE), a - a)
    b = values((4,) * 6, torch.float32)[::2, :, ::3, :, ::2, ::3]
    assert_same(b.to(DEVICE) + 1, b + 1)
    big = values((4,) * 6, torch.float32).to(DEVICE)[::2, :, ::3, :, ::2, ::3]
    assert_same(big + 1, b + 1)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(ALL, ALL)), ids=str)
def test_operands_of_two_dtypes_are_promoted_as_on_the_cpu(left: torch.dtype, right: torch.dtype) -> None:
    a, b = values((37, 11), left), values((11,), right, seed=1)
    assert_same(a.to(DEVICE) + b.to(DEVICE), a + b)
    assert_same(a.to(DEVICE) == b.to(DEVICE), a == b)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(ALL, ALL)), ids=str)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_casts_equal_the_cpu_dense_and_strided(source: torch.dtype, target: torch.dtype) -> None:
    a = values((33, 65), source)
    if target == torch.uint8:  # negative floats to unsigned are undefined
        a = a.abs() if source != torch.bool else a
    assert_same(a.to(DEVICE).to(target), a.to(target))
    assert_same(a.to(DEVICE).t()[::2].to(target), a.t()[::2].to(target))


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2])
def test_storage_only_dtypes_are_copied_filled_and_cast(dtype: torch.dtype) -> None:
    a = values((17, 9), torch.float32).abs().to(dtype)
    x = a.to(DEVICE)
    assert_same(x.t().contiguous().to(torch.float32), a.t().contiguous().to(torch.float32))
    assert_same(a.to(torch.float32).to(DEVICE).to(dtype).to(torch.float32), a.to(torch.float32))
    assert_same(torch.full((5,), 3, dtype=dtype, device=DEVICE).to(torch.float32), torch.full((5,), 3.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_python_numbers_are_rounded_where_cuda_rounds_them(dtype: torch.dtype) -> None:
    tenth = torch.full((3,), 0.1, dtype=dtype)
    # Comparisons round the number to the dtype first; arithmetic does not.
    assert_same(tenth.to(DEVICE) == 0.1, tenth == 0.1)
    expected = (tenth.float() * 0.1).to(dtype)
    assert_same(tenth.to(DEVICE) * 0.1, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    a = torch.tensor([info.min, info.max, 1, 0], dtype=dtype)
    x = a.to(DEVICE)
    assert_same(x + x, a + a)
    assert_same(x * x, a * a)
    assert_same(x - 1, a - 1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_by_zero_ends_without_a_trap(dtype: torch.dtype) -> None:
    a = torch.tensor([5, torch.iinfo(dtype).min, 0], dtype=dtype, device=DEVICE)
    b = torch.tensor([0, 0, 0], dtype=dtype, device=DEVICE)
    for result in (a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc")):
        assert result.cpu().shape == (3,)
    minimum = torch.tensor([torch.iinfo(torch.int64).min], device=DEVICE)
    assert (minimum // -1).item() == torch.iinfo(torch.int64).min


def test_cpu_scalars_on_either_side() -> None:
    a = values((9,), torch.float32)
    x = a.to(DEVICE)
    two = torch.tensor(2.0, dtype=torch.float64)
    assert_same(x - two, a - two)
    assert_same(two - x, two - a)
    assert_same(2 / x, 2 / a)
    assert_same(1 - x, 1 - a)


def test_nan_is_kept_by_clamp_and_extrema() -> None:
    nan = float("nan")
    a, b = torch.tensor([nan, 1.0, nan, 2.0]), torch.tensor([1.0, nan, nan, 3.0])
    x, y = a.to(DEVICE), b.to(DEVICE)
    assert_same(torch.maximum(x, y), torch.maximum(a, b))
    assert_same(torch.fmin(x, y), torch.fmin(a, b))
    assert_same(x.clamp(0, 1), a.clamp(0, 1))
    assert_same(torch.relu(x), torch.relu(a))


def test_in_place_on_the_same_memory() -> None:
    a = values((1031,), torch.bfloat16)
    x = a.to(DEVICE)
    x.add_(x).mul_(x)
    a.add_(a).mul_(a)
    assert_same(x, a)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sigmoid", "erf", "expm1", "log1p", "atan", "sinh"])
def test_vector_math_is_within_four_ulp(name: str) -> None:
    a = torch.cat([torch.linspace(-20, 20, 4001), torch.tensor([0.0, -0.0, 1e-30, float("inf"), -float("inf"), float("nan")])])
    a = a.abs() if name in ("log", "log1p") else a
    exact = getattr(torch, name)(a.double())
    result = getattr(torch, name)(a.to(DEVICE)).cpu()
    # libmvec promises 4 ULP; sigmoid adds the roundings of a sum and a quotient.
    rounded = exact.float()
    ulp = (torch.nextafter(rounded.abs(), torch.tensor(float("inf"))) - rounded.abs()).double()
    finite = exact.isfinite() & rounded.isfinite()
    error = ((result.double() - exact).abs() / ulp)[finite]
    assert error.max() <= 4.0
    assert torch.equal(result[~finite].isnan(), rounded[~finite].isnan())


def test_exp_is_within_one_ulp_from_the_smallest_denormal_to_overflow() -> None:
    a = torch.cat([torch.linspace(-104, 88.7228, 200001), torch.tensor([88.7228, 88.7229, 89.0, 1e30, -104.1, -1e30])])
    exact = a.double().exp()
    result = a.to(DEVICE).exp().cpu()
    # Counted over one in thirteen of all floats: 0.88 ULP, the last step's rounding and half of one more.
    ulp = torch.maximum(torch.ldexp(torch.ones(()), torch.frexp(exact).exponent - 24), torch.tensor(2.0**-149)).double()
    finite = exact < torch.finfo(torch.float32).max
    assert ((result.double() - exact).abs() <= 0.9 * ulp)[finite].all()
    assert (result[~finite] == float("inf")).all()


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "sigmoid"])
@pytest.mark.parametrize("size", [1, 3, 7, 15, 16, 17, 33, 1031])
def test_the_rest_of_a_vector_loop_gives_what_its_body_gives(name: str, size: int) -> None:
    # One element takes the scalar path or the rest of the loop; all must round alike to 4 ULP of libmvec's promise.
    function = getattr(torch, name)
    a = torch.linspace(-9, 9, size)
    exact = function(a.double())
    result = function(a.to(DEVICE)).cpu().double()
    assert ((result - exact).abs() <= 4 * 2**-23 * exact.abs()).all()


def test_gelu_keeps_its_relative_accuracy_in_the_negative_tail() -> None:
    a = torch.linspace(-5, 6, 4001)
    exact = torch.nn.functional.gelu(a.double())
    result = torch.nn.functional.gelu(a.to(DEVICE)).cpu().double()
    # The fit of the normal distribution's tail is good to 3e-6 there; 1 + erf(x) would be off by 1e-2 at -5.
    assert ((result - exact).abs() <= 4e-6 * exact.abs() + 1e-45).all()


def test_an_unsupported_dtype_is_an_error_that_names_it() -> None:
    x = torch.ones(3, dtype=torch.complex64, device=DEVICE)
    with pytest.raises(RuntimeError, match="ComplexFloat"):
        torch.erf(x)


def test_heaviside_of_nan_is_zero():
    x, values = torch.tensor([float("nan"), 0, -1, 2]), torch.full((4,), 7.0)
    assert torch.equal(torch.heaviside(x.to("anvil"), values.to("anvil")).cpu(), torch.heaviside(x, values))


@pytest.mark.parametrize("alpha", [True, 2, 0, -1])
def test_any_alpha_but_zero_is_true_in_a_sum_of_bools(alpha):
    a, b = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    assert torch.equal(torch.add(a.to("anvil"), b.to("anvil"), alpha=alpha).cpu(), torch.add(a, b, alpha=alpha))


@pytest.mark.parametrize(
    "dtype, call",
    [
        (torch.int64, lambda x: x.masked_fill(x > 1, float("nan"))),
        (torch.int8, lambda x: x.masked_fill(x > 1, 300)),
        (torch.float16, lambda x: x.masked_fill(x > 1, -1e9)),
        (torch.int8, lambda x: torch.addcmul(x, x, x, value=300)),
        (torch.int8, lambda x: torch.add(x, x, alpha=300)),
        (torch.int8, lambda x: torch.sub(x, x, alpha=300)),
        (torch.int8, lambda x: torch.pow(x, 300)),
        (torch.float16, lambda x: torch.pow(x, 1e6)),
        (torch.int8, lambda x: torch.threshold(x, 0, 300)),
        (torch.float16, lambda x: torch.hardshrink(x, 1e6)),
        (torch.int8, lambda x: x.index_add(0, torch.tensor([0, 1], device=x.device), x, alpha=300)),
    ],
)
def test_a_number_that_its_dtype_cannot_hold_is_refused(dtype, call):
    x = torch.tensor([1, 2], dtype=dtype)
    for device in ("cpu", "anvil"):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            call(x.to(device))


def test_masked_fill_of_a_host_tensor_by_a_device_value_names_both_devices(device):
    ones = torch.ones(3)
    with pytest.raises(RuntimeError, match="same device.*cpu.*anvil:0"):
        ones.masked_fill(ones.bool(), torch.tensor(1.0, device=device))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("periodic", [False, True])
def test_kaiser_window_equals_cpu(dtype, periodic):
    for length in (1, 2, 5, 64):
        ours = torch.kaiser_window(length, periodic, beta=8.0, dtype=dtype, device="anvil")
        expected = torch.kaiser_window(length, periodic, beta=8.0, dtype=torch.float64)
        assert ours.dtype == dtype
        # i0 is a series in the dtype of the computation: some ULP.
        tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 1e-3}[dtype]
        torch.testing.assert_close(ours.cpu().double(), expected, rtol=tolerance, atol=tolerance)
