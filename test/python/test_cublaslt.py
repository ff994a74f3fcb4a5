"""Anvil's code for cuBLASLt, which CUDA runs, on the simulator's stand-in for that library."""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch

import torch_anvil

PACKAGE = pathlib.Path(torch_anvil.__file__).parent
STAND_IN = PACKAGE / "lib" / "libanvil_simulator_blas.so"

pytestmark = pytest.mark.skipif(not STAND_IN.exists(), reason="this build found no cublasLt.h, and so has no stand-in")


@pytest.fixture
def on_stand_in(run_python, driver):
    """Runs a program whose products go through cuBLASLt's interface; it must end well."""
    if driver != "simulator":
        pytest.skip("on CUDA every product goes through cuBLASLt: test_linear_algebra.py tests it")

    def run(program: str, **environment):
        done = run_python(PRELUDE + program, ANVIL_SIMULATOR_BLAS="cublaslt", **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


PRELUDE = f"""\
import ctypes, itertools, torch
import torch.nn.functional as F
torch.manual_seed(0)
D = "anvil"
calls = ctypes.CDLL({str(STAND_IN)!r}).anvilBlasCalls
calls.restype = ctypes.c_uint64
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
DTYPES = FLOATS + [torch.complex64, torch.complex128]
# The CPU rounds the intermediate of half and bfloat16 products where the device rounds the result.
TOLERANCE = {{torch.bfloat16: (2e-2, 2e-2), torch.float16: (2e-3, 2e-3)}}
def close(actual, expected):
    rtol, atol = TOLERANCE.get(expected.dtype, (None, None))
    torch.testing.assert_close(actual.cpu(), expected, rtol=rtol, atol=atol)
def random(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=torch.complex128 if dtype.is_complex else torch.float64).to(dtype)
def on_device(t):
    return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=D).copy_(t)
"""


def test_the_product_operators_equal_the_cpu_through_cublaslt(driver):
    """All of test_linear_algebra.py, in a process whose products go through cuBLASLt."""
    if driver != "simulator":
        pytest.skip("on CUDA every product goes through cuBLASLt: test_linear_algebra.py tests it")
    tests = pathlib.Path(__file__).with_name("test_linear_algebra.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", str(tests)]
    environment = {**os.environ, "ANVIL_SIMULATOR_BLAS": "cublaslt"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"\b\d+ passed", done.stdout)


def test_the_stand_in_is_what_multiplies(on_stand_in):
    on_stand_in("""
a = torch.ones(2, 3, device=D)
before = calls(b"cublasLtMatmul")
(a @ a.T).cpu()
assert calls(b"cublasLtMatmul") == before + 1
""")


def test_a_linear_layer_adds_its_bias_in_the_epilogue(on_stand_in):
    on_stand_in("""
for dtype, rows in itertools.product(FLOATS, (1, 5)):
    x, w, b = random(rows, 7, dtype=dtype), random(3, 7, dtype=dtype), random(3, dtype=dtype)
    before = calls(b"cublasLtMatmul")
    close(F.linear(x.to(D), w.to(D), b.to(D)), F.linear(x, w, b))
    assert calls(b"cublasLtMatmul") == before + 1
""")


def test_complex_products_add_their_bias_without_an_epilogue(on_stand_in):
    """cuBLASLt has no epilogue for complex numbers."""
    on_stand_in("""
for dtype in (torch.complex64, torch.complex128):
    x, w, b = random(5, 7, dtype=dtype), random(3, 7, dtype=dtype), random(3, dtype=dtype)
    close(F.linear(x.to(D), w.to(D), b.to(D)), F.linear(x, w, b))
    close(torch.addmm(b.to(D), x.to(D), w.to(D).mH), torch.addmm(b, x, w.mH))
""")


def test_fused_activations_equal_the_cpu(on_stand_in):
    """GELU is the tanh approximation, as in CUDA's fused operator; the CPU's fused operator takes the exact one."""
    on_stand_in("""
for dtype, use_gelu, shape, beta in itertools.product(FLOATS, (False, True), ((3,), (5, 3), (5, 1)), (1, 0.5)):
    c, a, b = random(*shape, dtype=dtype), random(5, 7, dtype=dtype), random(7, 3, dtype=dtype)
    product = torch.addmm(c, a, b, beta=beta)
    expected = F.gelu(product, approximate="tanh") if use_gelu else F.relu(product)
    close(torch.ops.aten._addmm_activation(c.to(D), a.to(D), b.to(D), beta=beta, use_gelu=use_gelu), expected)
""")


def test_extents_of_one_and_zero_equal_the_cpu(on_stand_in):
    on_stand_in("""
for m, n, k in itertools.product((0, 1, 5), repeat=3):
    a, b, c, bias = random(m, k), random(k, n), random(m, n), random(n)
    close(torch.mm(a.to(D), b.to(D)), torch.mm(a, b))
    close(torch.mm(on_device(a.T.contiguous().T), on_device(b.T.contiguous().T)), torch.mm(a, b))
    close(torch.addmm(c.to(D), a.to(D), b.to(D), beta=0.5, alpha=2), torch.addmm(c, a, b, beta=0.5, alpha=2))
    close(torch.addmm(bias.to(D), a.to(D), b.to(D)), torch.addmm(bias, a, b))
    close(torch.ops.aten._addmm_activation(bias.to(D), a.to(D), b.to(D)), F.relu(torch.addmm(bias, a, b)))
    batched = [t.expand(3, *t.shape) for t in (a, b, c)]
    close(torch.bmm(*(t.to(D) for t in batched[:2])), torch.bmm(*batched[:2]))
    for batch in (0, 1, 3):
        a3, b3, c3 = random(batch, m, k), random(batch, k, n), random(batch, m, n)
        close(torch.baddbmm(c3.to(D), a3.to(D), b3.to(D), beta=2), torch.baddbmm(c3, a3, b3, beta=2))
""")


def test_operands_that_are_not_aligned_to_vectors_equal_the_cpu(on_stand_in):
    """The search is told the alignment that the memory has."""
    on_stand_in("""
for dtype, skip in itertools.product(DTYPES, (1, 2, 3)):
    flat = random(100, dtype=dtype)
    a, b = flat[skip:][:35].view(5, 7), flat[skip:][35:56].view(7, 3)
    device = flat.to(D)
    close(torch.mm(device[skip:][:35].view(5, 7), device[skip:][35:56].view(7, 3)), torch.mm(a, b))
""")


def test_results_may_be_strided_views(on_stand_in):
    on_stand_in("""
a, b = random(4, 6), random(6, 5)
for make in (lambda: torch.zeros(9, 11), lambda: torch.zeros(11, 9).T):
    expected, actual = make(), make().to(D)
    assert actual.stride() == expected.stride()
    torch.mm(a, b, out=expected[2:6, 3:8])
    torch.mm(a.to(D), b.to(D), out=actual[2:6, 3:8])
    close(actual, expected)
batch, other = random(3, 4, 6), random(3, 6, 5)
expected, actual = torch.zeros(4, 3, 5), torch.zeros(4, 3, 5, device=D)
torch.bmm(batch, other, out=expected.transpose(0, 1))
torch.bmm(batch.to(D), other.to(D), out=actual.transpose(0, 1))
close(actual, expected)
""")


def test_products_on_two_streams_and_two_devices_keep_their_order(on_stand_in):
    """Workspaces of products in flight are never shared: the stand-in overwrites them."""
    on_stand_in(
        """
a = random(96, 96) / 10
expected = a
for _ in range(6):
    expected = expected @ a
for device in ("anvil:0", "anvil:1"):
    with torch.anvil.device(device):
        results = []
        for stream in (torch.anvil.Stream(), torch.anvil.Stream()):
            with torch.anvil.stream(stream):
                x = y = a.to(device)
                for _ in range(6):
                    y = y @ x
                results.append(y)
        torch.anvil.synchronize()
        for result in results:
            close(result, expected)
""",
        ANVIL_SIMULATOR_SCHEDULE="3",
    )


def test_a_training_step_equals_the_cpu(on_stand_in):
    on_stand_in("""
def train(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        x, y = torch.randn(5, 6, generator=generator).to(device), torch.randn(5, 4, generator=generator).to(device)
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]
for actual, expected in zip(train(D), train("cpu")):
    close(actual, expected)
""")


def test_a_library_that_is_not_known_is_named(run_python, driver):
    if driver != "simulator":
        pytest.skip("the variable is for the simulator")
    done = run_python("import torch; a = torch.ones(2, 2, device='anvil'); a @ a", ANVIL_SIMULATOR_BLAS="magma")
    assert "ANVIL_SIMULATOR_BLAS=magma is not known; use aten or cublaslt" in done.stderr


def test_all_that_torchs_cuda_library_imports_of_cublas_is_exported():
    """Under the symbol versions that it asks for, so that the stand-in can be put in front of cuBLAS."""
    library = pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    nm = shutil.which("nm")
    if not library.exists() or nm is None:
        pytest.skip("needs a CUDA build of torch, and nm")
    names = re.compile(r"\b(cublas\w+)@+(\S+)")
    listing = []
    for option, path in (("--undefined-only", library), ("--defined-only", STAND_IN)):
        command = [nm, "-D", "--with-symbol-versions", option, str(path)]
        listing.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    imported, exported = (set(names.findall(text)) for text in listing)
    assert len(imported) > 60
    assert imported <= exported, imported - exported


def test_functions_that_are_not_computed_are_refused_and_not_missing():
    """A program that reached the real library with a handle of the stand-in would crash."""
    functions = ctypes.CDLL(str(STAND_IN))
    functions.anvilBlasCalls.restype = ctypes.c_uint64
    not_supported = 15
    for name in ("cublasSsyrk_v2", "cublasZgeqrfBatched", "cublasSgemm_v2_64", "cublasLtMatrixTransform"):
        assert getattr(functions, name)() == not_supported
        assert functions.anvilBlasCalls(name.encode()) == 1
