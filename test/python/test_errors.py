"""What goes wrong gets a clear error, and the process goes on. Memory, fork and files have tests of their own."""

from __future__ import annotations

import re
import signal

import pytest
import torch


def test_mixed_devices_in_a_native_operator_are_named(device, other_device):
    for left, right in ((device, other_device), (device, "cpu")):
        with pytest.raises(RuntimeError, match="same device") as caught:
            torch.ones(3, device=left) + torch.ones(3, device=right)
        assert str(left) in str(caught.value)
        assert str(right) in str(caught.value)


def test_mixed_devices_in_a_matrix_product_are_named(device):
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(2, 2, device=device) @ torch.ones(2, 2)


@pytest.fixture(scope="module")
def cpu_only_operators():
    """Operators that exist on the CPU alone: what reaches the fallback whatever Anvil learns."""
    library = torch.library.Library("anvil_test", "DEF")
    library.define("add(Tensor x, Tensor y) -> Tensor")
    library.define("first_row(Tensor(a) x) -> Tensor(a)")
    library.impl("add", lambda x, y: x + y, "CPU")
    library.impl("first_row", lambda x: x[0], "CPU")
    yield torch.ops.anvil_test
    library._destroy()


def test_an_operator_without_a_kernel_runs_on_the_cpu_and_is_counted(device, cpu_only_operators):
    torch.anvil.reset_fallback_stats()
    with torch.anvil.allow_fallback():
        result = cpu_only_operators.add(torch.ones(4, device=device), torch.ones(4, device=device))
    assert result.device == device
    assert result.tolist() == [2, 2, 2, 2]
    stats = torch.anvil.fallback_stats()["anvil_test::add"]
    assert stats.calls == 1
    assert stats.bytes == 3 * 16  # two inputs there, one result back
    assert stats.synchronizations >= 1
    assert torch.anvil.operator_stats()["anvil_test::add"].fallback == 1


def test_the_fallback_warns_once_for_each_operator(run_python):
    result = run_python(
        """
        import torch
        library = torch.library.Library("anvil_test", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: 2 * x, "CPU")
        for _ in range(3):
            torch.ops.anvil_test.twice(torch.ones(2, device="anvil"))
        """,
        ANVIL_FALLBACK=None,
    )
    assert result.stderr.count("anvil_test::twice") == 1, result.stderr
    assert "CPU" in result.stderr


def test_a_forbidden_fallback_is_an_error_that_names_the_operator(device, cpu_only_operators):
    tensor = torch.ones(4, device=device)
    with torch.anvil.forbid_fallback():
        assert torch.anvil.fallback_policy() == "forbid"
        with pytest.raises(RuntimeError, match="anvil_test::add"):
            cpu_only_operators.add(tensor, tensor)
        with torch.anvil.allow_fallback():
            cpu_only_operators.add(tensor, tensor)
    assert torch.anvil.fallback_policy() in ("warn", "allow", "forbid")


def test_a_fallback_is_forbidden_in_backward_too(device, cpu_only_operators):
    """Backward runs in a thread of autograd's."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return cpu_only_operators.add(gradient, gradient)

    tensor = torch.ones(4, device=device, requires_grad=True)
    with torch.anvil.forbid_fallback(), pytest.raises(RuntimeError, match="anvil_test::add"):
        Twice.apply(tensor).sum().backward()


def test_mixed_devices_in_a_fallback_are_named(device, other_device, cpu_only_operators):
    with torch.anvil.allow_fallback(), pytest.raises(RuntimeError, match="same device") as caught:
        cpu_only_operators.add(torch.ones(3, device=device), torch.ones(3, device=other_device))
    assert "anvil:0" in str(caught.value)
    assert "anvil:1" in str(caught.value)


def test_a_view_operator_without_a_kernel_is_an_error_that_names_it(device, cpu_only_operators):
    """A view of a copy on the CPU would be no view."""
    with torch.anvil.allow_fallback(), pytest.raises(RuntimeError, match="anvil_test::first_row"):
        cpu_only_operators.first_row(torch.ones(2, 2, device=device))


def test_an_unknown_fallback_policy_is_named_with_the_known_ones(run_python):
    result = run_python("import torch; torch.anvil.fallback_policy()", ANVIL_FALLBACK="maybe")
    assert re.search("maybe.*warn.*allow.*forbid", result.stderr.splitlines()[-1])


@pytest.mark.parametrize(
    "variable",
    ["ANVIL_FALLBACK", "ANVIL_BLOCK_ORDER", "ANVIL_SIMULATOR_BLAS", "ANVIL_CPU_LEVEL", "ANVIL_SIMULATOR_DEVICES"],
)
def test_a_value_that_is_not_allowed_is_an_error_at_the_first_use(run_python, driver, variable):
    if driver == "CUDA" and variable.startswith("ANVIL_SIMULATOR"):
        pytest.skip("nobody reads the simulator's variables on a GPU")
    result = run_python("import torch; print('imported', flush=True); torch.empty(1, device='anvil')", **{variable: "-1"})
    assert result.stdout == "imported\n"
    assert variable in result.stderr.splitlines()[-1], result.stderr
    assert "-1" in result.stderr.splitlines()[-1]


def test_an_unsupported_dtype_is_named(device):
    with pytest.raises((RuntimeError, NotImplementedError), match="[Ff]loat|Bool|bool"):
        torch.ones(3, device=device).bitwise_and_(1.5)
    with pytest.raises((RuntimeError, NotImplementedError), match="ComplexFloat|complex"):
        torch.ones(3, dtype=torch.complex64, device=device).floor()


def test_an_index_out_of_range_surfaces_at_the_next_synchronisation(run_python):
    """As CUDA's device-side assertions: asynchronous, sticky, and never silent."""
    result = run_python(
        """
        import torch
        source = torch.arange(3, device="anvil")
        result = source[torch.tensor([0, 7], device="anvil")]
        for _ in range(2):
            try:
                torch.anvil.synchronize()
                print("nothing")
            except torch.AcceleratorError as error:
                print("AcceleratorError", str(error).splitlines()[0])
        """
    )
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["AcceleratorError"] * 2, result.stdout + result.stderr
    assert "cudaError" in lines[0]
    assert result.returncode == 0


def test_a_launch_after_a_device_assertion_is_an_accelerator_error_too(run_python):
    """Who notices first does not decide what kind of exception it is."""
    result = run_python(
        """
        import torch
        source = torch.arange(3, device="anvil")
        other = torch.ones(2, device="anvil")
        result = source[torch.tensor([0, 7], device="anvil")]
        for _ in range(100000):
            try:
                other.add_(1)
            except Exception as error:
                print(type(error).__name__, len(str(error).splitlines()), "cudaError" in str(error))
                break
        """
    )
    assert result.stdout.split() == ["AcceleratorError", "1", "True"], result.stdout + result.stderr


@pytest.mark.parametrize(
    "use",
    [
        "torch.ones(1, device='anvil:200')",
        "torch.ones(1).to('anvil:200')",
        "torch.empty_strided((1,), (1,), device='anvil:254')",
        "torch.arange(3, device='anvil:200')",
        "torch.tril_indices(3, 3, device='anvil:200')",
        "torch.anvil.set_device('anvil:200')",
        "torch.anvil.device('anvil:200').__enter__()",
        "torch.anvil.Stream('anvil:200')",
    ],
)
def test_an_index_that_torch_wraps_is_out_of_range(use):
    with torch.anvil.allow_fallback(), pytest.raises((RuntimeError, ValueError), match="anvil device index -.* out of range"):
        eval(use)


def test_host_access_to_device_memory_is_reported_and_ends_the_process(run_python, driver):
    result = run_python(
        """
        import ctypes, torch
        tensor = torch.ones(1000, device="anvil:1")
        torch.anvil.synchronize(1)
        print(tensor.data_ptr() + 8, flush=True)
        ctypes.string_at(tensor.data_ptr() + 8, 4)
        print("survived")
        """
    )
    assert result.returncode in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)
    assert "survived" not in result.stdout
    if driver == "simulator":
        assert f"{int(result.stdout):#x}" in result.stderr
        assert re.search(r"device 1\b", result.stderr)


def test_names_of_other_accelerators_stay_errors(device):
    with pytest.raises((RuntimeError, AssertionError), match="XPU|xpu"):
        torch.ones(1, device=device).to("xpu")


def test_pinned_memory_that_is_not_there_says_how_much_was_asked(run_python):
    result = run_python("import torch; torch.anvil.init(); torch.empty(1 << 48, dtype=torch.uint8, pin_memory=True)")
    assert f"{1 << 48} bytes of pinned memory" in result.stderr.splitlines()[-1], result.stderr
