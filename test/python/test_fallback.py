"""The CPU fallback: what it computes, counts, warns of and refuses.

The operators here have no kernel on purpose: special functions that nobody trains with. One that gets a kernel is replaced
by another; `unserved` says so.
"""

from __future__ import annotations

import warnings

import pytest
import torch

SINGLE = torch.special.bessel_j0  # a structured or plain operator of one tensor
NAME = "aten::special_bessel_j0.out"


@pytest.fixture(autouse=True)
def quiet_and_counted():
    torch.anvil.reset_fallback_stats()
    with torch.anvil.allow_fallback():
        yield
    torch.anvil.reset_fallback_stats()


def cpu_and_device(device, *shape, dtype=torch.float32):
    torch.manual_seed(0)
    value = torch.rand(*shape).mul(4).add(0.5).to(dtype)
    return value, value.to(device)


def test_result_lies_on_the_device_and_equals_the_cpus(device):
    value, on_device = cpu_and_device(device, 3, 4)
    result = SINGLE(on_device)
    assert result.device == device
    assert torch.equal(result.cpu(), SINGLE(value))  # the same kernel on the same bits


def test_result_keeps_the_strides_that_the_cpu_chose(device):
    value, on_device = cpu_and_device(device, 2, 3, 4, 5)
    value = value.to(memory_format=torch.channels_last)
    result = torch.special.bessel_j1(on_device.to(memory_format=torch.channels_last))
    assert result.stride() == torch.special.bessel_j1(value).stride()


def test_in_place_call_changes_the_tensor_itself(device):
    value, on_device = cpu_and_device(device, 3, 4)
    address = on_device.data_ptr()
    assert on_device.digamma_() is on_device
    assert on_device.data_ptr() == address
    assert torch.equal(on_device.cpu(), value.digamma_())


def test_in_place_call_on_a_strided_view_changes_only_the_view(device):
    value, on_device = cpu_and_device(device, 4, 6)
    value[:, ::2].digamma_()
    on_device[:, ::2].digamma_()
    assert torch.equal(on_device.cpu(), value)


def test_out_is_resized_and_filled(device):
    value, on_device = cpu_and_device(device, 3, 4)
    out = torch.empty(0, device=device)
    assert SINGLE(on_device, out=out) is out
    assert torch.equal(out.cpu(), SINGLE(value))


def test_out_that_is_also_the_input(device):
    value, on_device = cpu_and_device(device, 5)
    SINGLE(on_device, out=on_device)
    assert torch.equal(on_device.cpu(), SINGLE(value))


def test_multiple_results(device):
    value, on_device = cpu_and_device(device, 4, 5)
    for result, expected in zip(torch.kthvalue(on_device, 2, dim=1), torch.kthvalue(value, 2, dim=1)):
        assert result.device == device and torch.equal(result.cpu(), expected)


def test_lists_of_tensors_are_changed_in_place(device):
    value, on_device = cpu_and_device(device, 6)

    def step(parameter):
        lists = [[parameter.clone(), parameter.clone() + 1] for _ in range(3)]
        steps = [torch.ones((), device=parameter.device) for _ in lists[0]]
        torch._fused_adagrad_(*lists, steps, lr=0.1, lr_decay=0.0, weight_decay=0.0, eps=1e-10, maximize=False)
        return lists[0]

    for ours, theirs in zip(step(on_device), step(value), strict=True):
        assert torch.equal(ours.cpu(), theirs)


def test_optional_tensor_that_is_missing(device):
    value, _ = cpu_and_device(device, 8)
    edges = torch.linspace(0, 5, 6)
    counts, _ = torch.histogram(value, edges)
    on_device, _ = torch.histogram(value.to(device), edges.to(device))
    assert torch.equal(on_device.cpu(), counts)


def test_scalar_on_the_cpu_is_allowed_beside_tensors_of_the_device(device):
    value, on_device = cpu_and_device(device, 3)
    result = torch.special.zeta(on_device + 1, torch.tensor(2.0))
    assert torch.equal(result.cpu(), torch.special.zeta(value + 1, torch.tensor(2.0)))


def test_gradients_flow_through_it(device):
    value, on_device = cpu_and_device(device, 3, 4)
    value.requires_grad_()
    on_device.requires_grad_()
    torch.special.entr(value).sum().backward()
    torch.special.entr(on_device).sum().backward()
    torch.testing.assert_close(on_device.grad.cpu(), value.grad)


def test_generator_of_the_device_decides_the_numbers(device):
    rates = torch.full((64,), 4.0, device=device)
    generator = torch.Generator(device=device).manual_seed(3)
    first, second = (torch.poisson(rates, generator=generator) for _ in range(2))
    again = torch.poisson(rates, generator=torch.Generator(device=device).manual_seed(3))
    assert torch.equal(first.cpu(), again.cpu())
    assert not torch.equal(first.cpu(), second.cpu())


# --- Counting.


def test_calls_bytes_and_synchronizations_are_counted_by_operator(device):
    _, on_device = cpu_and_device(device, 16)
    torch.anvil.reset_fallback_stats()
    SINGLE(on_device)
    SINGLE(on_device)
    stats = torch.anvil.fallback_stats()
    assert set(stats) == {NAME}
    # 16 floats to the CPU and 16 back, twice; only the way to the CPU waits.
    assert stats[NAME] == (2, 2 * 2 * 64, 2)
    assert torch.anvil.operator_stats()[NAME].fallback == 2


def test_in_place_call_copies_back_only_what_changed(device):
    on_device = torch.full((16,), 0.5, device=device)
    other = torch.full((16,), 2.0, device=device)
    torch.anvil.reset_fallback_stats()
    on_device.igamma_(other)
    (stats,) = torch.anvil.fallback_stats().values()
    assert stats.bytes == 3 * 64  # two in, one back


# --- Policy.


def test_forbidden_fallback_names_operator_arguments_and_what_to_do(device):
    _, on_device = cpu_and_device(device, 3, 4)
    with torch.anvil.forbid_fallback(), pytest.raises(NotImplementedError) as caught:
        SINGLE(on_device)
    message = str(caught.value)
    assert NAME in message and "self: Float [3, 4]" in message
    assert "docs/add_an_operator.md" in message and "ANVIL_FALLBACK=warn" in message
    assert torch.anvil.fallback_stats() == {}


def test_warning_comes_once_for_each_operator(device):
    _, on_device = cpu_and_device(device, 3)
    with torch.anvil.warn_fallback(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            torch.special.bessel_y0(on_device)
            torch.special.bessel_y1(on_device)
    texts = [str(w.message) for w in caught if "has no kernel for anvil" in str(w.message)]
    assert len(texts) == 2
    assert "special_bessel_y0" in texts[0] and "ANVIL_FALLBACK=allow" in texts[0]


@pytest.mark.parametrize(("policy", "ends_well"), [("allow", True), ("warn", True), ("forbid", False)])
def test_environment_sets_the_policy(run_python, policy, ends_well):
    done = run_python("import torch; torch.special.bessel_j0(torch.ones(2, device='anvil')).cpu()", ANVIL_FALLBACK=policy)
    assert (done.returncode == 0) == ends_well, done.stderr
    assert ("has no kernel for anvil" in done.stderr) == (policy != "allow")


def test_unknown_policy_in_the_environment_says_what_is_allowed(run_python):
    done = run_python("import torch; torch.special.bessel_j0(torch.ones(2, device='anvil')).cpu()", ANVIL_FALLBACK="maybe")
    assert done.returncode != 0
    assert "ANVIL_FALLBACK is 'maybe', allowed: warn" in done.stderr


# --- Refusals.


def test_tensors_on_two_devices_are_refused(device, other_device):
    a, b = torch.ones(3, device=device), torch.ones(3, device=other_device)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.kthvalue(a, 1, out=(b, torch.empty(0, dtype=torch.long, device=device)))
    assert torch.anvil.fallback_stats() == {}


def test_tensor_on_the_cpu_beside_one_of_the_device_is_refused(device):
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.special.zeta(torch.rand(3, device=device), torch.rand(3))


def test_view_operator_is_refused_with_the_way_to_add_it(device):
    library = torch.library.Library("anvil_test_fallback", "DEF")
    library.define("peek(Tensor(a) self) -> Tensor(a)")
    library.impl("peek", lambda self: self.view(-1), "CPU")
    with pytest.raises(NotImplementedError, match="peek is a view operator.*aten_ops/view.yaml"):
        torch.ops.anvil_test_fallback.peek(torch.rand(3, device=device))


def test_operator_of_another_library_falls_back_too(device):
    library = torch.library.Library("anvil_test_library", "DEF")
    library.define("twice(Tensor self) -> Tensor")
    library.impl("twice", lambda self: self * 2, "CPU")
    result = torch.ops.anvil_test_library.twice(torch.ones(3, device=device))
    assert result.device == device and result.tolist() == [2.0, 2.0, 2.0]


def test_dtype_that_the_cpu_lacks_names_operator_and_dtype(device):
    with pytest.raises(NotImplementedError, match="not implemented for 'Half'.*linalg_lu_factor_ex.out has no kernel"):
        torch.linalg.lu_factor(torch.rand(3, 3, device=device).half())


def test_error_of_the_cpu_keeps_its_type_and_leaves_out_alone(device):
    out = torch.full((2,), 7.0, device=device), torch.zeros(2, dtype=torch.long, device=device)
    with pytest.raises(RuntimeError, match="selected number k out of range"):
        torch.kthvalue(torch.rand(2, 3, device=device), 9, dim=1, out=out)
    assert out[0].tolist() == [7.0, 7.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda d: torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.tensor([1.0, 2.0]), (3,)).to(d),
        lambda d: torch.ones(3, 3, device=d).to_sparse(),
        lambda d: torch.ones(3, 3).to_sparse_csr().to(d) @ torch.ones(3, 3, device=d),
    ],
)
def test_sparse_tensors_are_refused_clearly(device, make):
    with pytest.raises(NotImplementedError, match="sparse|Sparse"):
        make(device)
