"""Gather, scatter, concatenation and their like against the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

DEVICE = torch.device("privateuseone:0")
DTYPES = [
    torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.int16,
    torch.int8, torch.uint8, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip
REAL = [d for d in DTYPES if not d.is_complex]


@pytest.fixture(autouse=True)
def native_only():
    torch.manual_seed(0)
    with torch.anvil.forbid_fallback():
        yield


def values(*shape, dtype):
    """Small whole numbers: sums of them are exact in every dtype and in every order."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).to(dtype)
    real = torch.randint(0 if dtype == torch.uint8 else -4, 5, shape)
    return torch.complex(real.double(), real.flip(0).double()).to(dtype) if dtype.is_complex else real.to(dtype)


def assert_equal(actual, expected):
    torch.testing.assert_close(actual.cpu(), expected, rtol=0, atol=0)


INDEXINGS = {
    "rows": lambda x, d: x[torch.tensor([3, 0, -1, 3], device=d)],
    "two": lambda x, d: x[torch.tensor([3, 0, 2], device=d), torch.tensor([1, -1, 0], device=d)],
    "outer": lambda x, d: x[torch.tensor([[3], [0]], device=d), torch.tensor([1, 2, 0], device=d)],
    "apart": lambda x, d: x[torch.tensor([3, 0], device=d), :, torch.tensor([1, 4], device=d)],
    "inner": lambda x, d: x[:, :, torch.tensor([4, 4, 0], device=d)],
    "all": lambda x, d: x[tuple(torch.tensor(i, device=d) for i in ([1, 2], [0, 3], [4, 4]))],
    "mask": lambda x, d: x[(torch.arange(20) % 3 == 0).view(5, 4).to(d)],
    "empty": lambda x, d: x[torch.tensor([], dtype=torch.int64, device=d)],
    "int32": lambda x, d: x[torch.tensor([3, 0], dtype=torch.int32, device=d)],
    "cpu index": lambda x, d: x[torch.tensor([3, 0])],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("indexing", INDEXINGS)
def test_index_equals_cpu(indexing, dtype):
    x = values(5, 4, 6, dtype=dtype)
    for view in (lambda t: t, lambda t: t.transpose(0, 1).contiguous().transpose(0, 1)):
        assert_equal(INDEXINGS[indexing](view(x.to(DEVICE)), DEVICE), INDEXINGS[indexing](view(x), "cpu"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("deterministic", [False, True], ids=["", "deterministic"])
@pytest.mark.parametrize("inner", [1, 3, 40])
def test_index_put_accumulates_duplicates(dtype, deterministic, inner):
    x, index = values(7, inner, dtype=dtype), torch.randint(-7, 7, (50,))
    source = values(50, inner, dtype=dtype)
    expected = x.clone().index_put_((index,), source, accumulate=True)
    torch.use_deterministic_algorithms(deterministic)
    try:
        actual = x.to(DEVICE).index_put_((index.to(DEVICE),), source.to(DEVICE), accumulate=True)
    finally:
        torch.use_deterministic_algorithms(False)
    assert_equal(actual, expected)


def test_index_put_accumulates_scattered_elements_of_many_rows():
    x = torch.zeros(50, 40)
    i, j = torch.randint(0, 50, (6000,)), torch.randint(0, 40, (6000,))
    source = values(6000, dtype=torch.float32)
    for deterministic in (False, True):
        torch.use_deterministic_algorithms(deterministic)
        try:
            actual = x.to(DEVICE).index_put_((i.to(DEVICE), j.to(DEVICE)), source.to(DEVICE), accumulate=True)
        finally:
            torch.use_deterministic_algorithms(False)
        assert_equal(actual, x.clone().index_put_((i, j), source, accumulate=True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_index_put_assigns(dtype):
    x, source = values(5, 4, 6, dtype=dtype), values(3, 6, dtype=dtype)
    results = []
    for device in (DEVICE, "cpu"):
        y = x.to(device).clone()
        y[torch.tensor([3, 0, 2], device=device), torch.tensor([1, -1, 0], device=device)] = source.to(device)
        y[y == 1] = 2 if dtype != torch.bool else False
        results.append(y)
    assert_equal(*results)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_select_add_copy_fill_equal_cpu(dtype, dim):
    x = values(5, 6, 7, dtype=dtype)
    index = torch.tensor([4, 0, 4, 2])
    shape = [5, 6, 7]
    shape[dim] = 4
    source = values(*shape, dtype=dtype)
    unique = torch.tensor([4, 0, 3, 2])
    ours, i, u, s = x.to(DEVICE), index.to(DEVICE), unique.to(DEVICE), source.to(DEVICE)
    assert_equal(ours.index_select(dim, i), x.index_select(dim, index))
    assert_equal(ours.index_select(dim, i.int()), x.index_select(dim, index))
    assert_equal(ours.index_add(dim, i, s), x.index_add(dim, index, source))
    assert_equal(ours.index_copy(dim, u, s), x.index_copy(dim, unique, source))
    assert_equal(ours.index_fill(dim, i, 1), x.index_fill(dim, index, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather_and_scatter_equal_cpu(dtype, dim):
    x = values(5, 6, 7, dtype=dtype)
    shape = [3, 4, 5]
    index = torch.randint(0, 5, shape)
    # For scatter: no position meets another.
    unique = torch.argsort(torch.rand(shape), dim)
    source = values(4, 5, 6, dtype=dtype)
    ours, i, u, s = x.to(DEVICE), index.to(DEVICE), unique.to(DEVICE), source.to(DEVICE)
    assert_equal(ours.gather(dim, i), x.gather(dim, index))
    assert_equal(ours.scatter(dim, u, s), x.scatter(dim, unique, source))
    assert_equal(ours.scatter(dim, i, 1), x.scatter(dim, index, 1))
    assert_equal(ours.scatter_add(dim, i, s), x.scatter_add(dim, index, source))


@pytest.mark.parametrize("deterministic", [False, True], ids=["", "deterministic"])
def test_int32_indices_are_read_as_such(deterministic):
    index = torch.tensor([[4, 2, 0], [1, 1, 3]], dtype=torch.int32)
    x, source = values(5, 3, dtype=torch.float32), values(2, 3, dtype=torch.float32)
    operations = [
        lambda x, index, source: x.gather(0, index),
        lambda x, index, source: x.scatter(1, index.clamp(max=2)[:, :1], source),
        lambda x, index, source: x.scatter(0, index, 7.0),
        lambda x, index, source: x.scatter_add(0, index, source),
        lambda x, index, source: x.scatter_reduce(0, index, source, "amax"),
        lambda x, index, source: x.scatter(0, index, source, reduce="multiply"),
        lambda x, index, source: x.index_add(0, index[0, :2], source),
        lambda x, index, source: x.index_select(0, index[1]),
        lambda x, index, source: x[index[0]],
        lambda x, index, source: x.index_put((index[0, :2],), source, accumulate=True),
    ]
    torch.use_deterministic_algorithms(deterministic, warn_only=True)
    try:
        for operation in operations:
            ours = operation(x.to(DEVICE), index.to(DEVICE), source.to(DEVICE))
            torch.testing.assert_close(ours.cpu(), operation(x, index, source), rtol=0, atol=0)
    finally:
        torch.use_deterministic_algorithms(False)


def test_embedding_limits_the_norm_of_the_rows_that_it_reads():
    weight = torch.randn(6, 4) * 3
    for norm_type in (1.0, 2.0, float("inf")):
        ours, theirs = weight.to(DEVICE), weight.clone()
        for table in (ours, theirs):
            F.embedding(torch.tensor([[1, 1], [4, 0]], device=table.device), table, max_norm=1.5, norm_type=norm_type)
        torch.testing.assert_close(ours.cpu(), theirs)
        assert torch.equal(ours.cpu()[[2, 3, 5]], weight[[2, 3, 5]])


@pytest.mark.parametrize("dtype", [d for d in REAL if d != torch.bool], ids=str)
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce_equals_cpu(dtype, reduce, include_self):
    x, source = values(5, 6, dtype=dtype), values(8, 6, dtype=dtype)
    if reduce == "prod":  # products stay exact
        x, source = x.clamp(0, 1), source.clamp(0, 2)
    index = torch.randint(0, 5, (8, 6))
    expected = x.scatter_reduce(0, index, source, reduce, include_self=include_self)
    actual = x.to(DEVICE).scatter_reduce(0, index.to(DEVICE), source.to(DEVICE), reduce, include_self=include_self)
    torch.testing.assert_close(actual.cpu(), expected)


def test_scatter_reduce_keeps_nan():
    x = torch.tensor([1.0, 2.0, float("nan")])
    index, source = torch.tensor([0, 1, 2]), torch.tensor([float("nan"), 3.0, 0.0])
    for reduce in ("amax", "amin"):
        actual = x.to(DEVICE).scatter_reduce(0, index.to(DEVICE), source.to(DEVICE), reduce)
        torch.testing.assert_close(actual.cpu(), x.scatter_reduce(0, index, source, reduce), equal_nan=True)


def test_take_and_put_equal_cpu():
    x, index = torch.arange(30.0).view(5, 6), torch.tensor([[3, -1], [29, 0]])
    source = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for view in (lambda t: t, lambda t: t.t()):
        ours = view(x.to(DEVICE))
        assert_equal(torch.take(ours, index.to(DEVICE)), torch.take(view(x), index))
        for accumulate in (False, True):
            assert_equal(
                ours.clone().put_(index.to(DEVICE), source.to(DEVICE), accumulate),
                view(x).clone().put_(index, source, accumulate),
            )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (17, 300), (2, 3, 4, 5), (5000,)], ids=str)
def test_nonzero_equals_cpu_and_is_column_major(dtype, shape):
    x = values(*shape, dtype=dtype)
    result = torch.nonzero(x.to(DEVICE))
    assert_equal(result, torch.nonzero(x))
    if result.numel() > 1 and result.shape[1] > 1:
        assert result.stride() == (1, result.shape[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_selection_by_mask_equals_cpu(dtype):
    x, mask = values(40, 70, dtype=dtype), torch.rand(40, 70) < 0.3
    ours = x.to(DEVICE)
    assert_equal(torch.masked_select(ours, mask.to(DEVICE)), torch.masked_select(x, mask))
    assert_equal(ours[mask.to(DEVICE)], x[mask])
    assert_equal(torch.masked_select(ours, mask[0].to(DEVICE)), torch.masked_select(x, mask[0]))
    source = values(2800, dtype=dtype)
    assert_equal(ours.masked_scatter(mask.to(DEVICE), source.to(DEVICE)), x.masked_scatter(mask, source))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_cat_and_stack_equal_cpu(dtype, dim, layout):
    shapes = [[3, 4, 5] for _ in range(4)]
    for i, shape in enumerate(shapes):
        shape[dim] = (2, 7, 0, 200)[i]
    parts = [values(*shape, dtype=dtype) for shape in shapes]
    if layout == "strided":
        parts = [p.transpose(0, 2).contiguous().transpose(0, 2) for p in parts]
    assert_equal(torch.cat([p.to(DEVICE) for p in parts], dim), torch.cat(parts, dim))
    assert_equal(torch.stack([parts[0].to(DEVICE)] * 3, dim), torch.stack([parts[0]] * 3, dim))


def test_cat_of_channels_last_many_inputs_and_mixed_dtypes_equals_cpu():
    parts = [torch.randn(2, c, 3, 3).contiguous(memory_format=torch.channels_last) for c in (2, 3, 4)]
    result = torch.cat([p.to(DEVICE) for p in parts], 1)
    assert result.is_contiguous(memory_format=torch.channels_last)
    assert_equal(result, torch.cat(parts, 1))
    many = [torch.randn(3) for _ in range(150)]
    assert_equal(torch.cat([p.to(DEVICE) for p in many]), torch.cat(many))
    mixed = [torch.arange(3), torch.rand(2), torch.rand(4).half()]
    assert_equal(torch.cat([p.to(DEVICE) for p in mixed]), torch.cat(mixed))
    legacy = [torch.empty(0), torch.randn(2, 3)]
    assert_equal(torch.cat([p.to(DEVICE) for p in legacy], 1), torch.cat(legacy, 1))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("k", [-7, -1, 0, 2, 9])
def test_triangles_equal_cpu(dtype, k):
    x = values(2, 5, 7, dtype=dtype)
    for view in (lambda t: t, lambda t: t.mT):
        assert_equal(torch.tril(view(x.to(DEVICE)), k), torch.tril(view(x), k))
        assert_equal(torch.triu(view(x.to(DEVICE)), k), torch.triu(view(x), k))
    assert_equal(x.to(DEVICE).tril_(k), x.tril(k))


def test_flip_and_roll_equal_cpu():
    x = torch.arange(60).view(3, 4, 5)
    ours = x.to(DEVICE)
    for dims in ((0,), (2,), (0, 1), (0, 1, 2)):
        assert_equal(torch.flip(ours, dims), torch.flip(x, dims))
    for arguments in ((2,), (1, 0), (-7, 2), ((1, 2), (0, 2))):
        arguments = arguments if len(arguments) > 1 else (arguments[0],)
        assert_equal(torch.roll(ours, *arguments), torch.roll(x, *arguments))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("columns", [1, 5, 64])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 3}, {"scale_grad_by_freq": True}], ids=str)
def test_embedding_and_its_gradient_equal_cpu(dtype, columns, options):
    weight, index = torch.randn(11, columns).to(dtype), torch.randint(0, 11, (6, 9))
    results = []
    for device in ("cpu", DEVICE):
        w = weight.to(device).requires_grad_()
        y = F.embedding(index.to(device), w, **options)
        results.append([y.detach(), torch.autograd.grad(y, w, torch.ones_like(y) / 2)[0]])
    # The CPU accumulates half and bfloat16 in the dtype, the device in float.
    rtol, atol = {torch.bfloat16: (1e-2, 1e-2), torch.float16: (2e-3, 1e-3)}.get(dtype, (None, None))
    for expected, actual in zip(*results):
        torch.testing.assert_close(actual.cpu(), expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    "statement",
    [
        "x[torch.tensor([5], device=d)]",
        "x[torch.tensor([-6], device=d)]",
        "x.index_select(0, torch.tensor([-1], device=d))",
        "x.gather(0, torch.tensor([7], device=d))",
        "x.scatter_(0, torch.tensor([7], device=d), 1.0)",
    ],
)
def test_an_index_out_of_range_is_a_readable_device_error(statement, run_python):
    """As on CUDA: the call returns, and the next synchronisation fails."""
    result = run_python(
        f"""
        import torch
        d = torch.device("privateuseone:0")
        x = torch.ones(5, device=d)
        y = {statement}
        print("returned", flush=True)
        try:
            torch.anvil.synchronize()
        except RuntimeError as error:
            print("failed:", error, flush=True)
        """
    )
    assert "returned" in result.stdout
    assert "failed:" in result.stdout
    assert "index out of bounds" in result.stderr


def test_an_asynchronous_assertion_fails_later_with_its_message(run_python):
    result = run_python(
        """
        import torch
        torch._assert_async(torch.ones(1, device="anvil"), "not this one")
        torch._assert_async(torch.zeros(1, device="anvil"), "the weights are all zero")
        print("returned", flush=True)
        try:
            torch.anvil.synchronize()
        except RuntimeError:
            print("failed", flush=True)
        """
    )
    assert result.stdout.split() == ["returned", "failed"]
    assert "the weights are all zero" in result.stderr
    assert "not this one" not in result.stderr


def test_masked_scatter_from_a_source_that_is_too_short_fails(run_python):
    """As on CUDA: at the next synchronisation. Elements that are not selected need no source."""
    result = run_python(
        """
        import torch
        x, mask = torch.zeros(4, device="anvil"), torch.tensor([True, False, True, True], device="anvil")
        print(x.masked_scatter(mask, torch.arange(1.0, 4.0, device="anvil")).tolist())
        print(x.masked_scatter(~mask & mask, torch.ones(0, device="anvil")).tolist())
        x.masked_scatter_(mask, torch.ones(2, device="anvil"))
        try:
            torch.anvil.synchronize()
        except RuntimeError:
            print("failed", flush=True)
        """
    )
    assert "[1.0, 0.0, 2.0, 3.0]\n[0.0, 0.0, 0.0, 0.0]\nfailed" in result.stdout
    assert "at least as many elements as the mask selects" in result.stderr


@pytest.mark.parametrize("shape", [(0, 3), (0, 0)], ids=str)
def test_an_empty_table_has_no_rows_to_select(shape):
    index = torch.zeros(2, dtype=torch.int64)
    for device in ("cpu", "anvil"):
        with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
            torch.ones(shape, device=device).index_select(0, index.to(device))
    none = torch.ones(shape, device="anvil").index_select(0, index[:0].to("anvil"))
    assert none.shape == shape
