"""The checks of compiled CUDA kernels find what they are for: planted stack use, spills and narrow loads."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))
import cuda_gates  # noqa: E402

_FOLDERS = [
    f"{sysconfig.get_path('purelib')}/nvidia/cu13/bin",
    f"{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/bin",
    os.environ["PATH"],
]
NVCC = os.environ.get("CUDACXX") or shutil.which("nvcc", path=":".join(_FOLDERS))
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed (bash ci/setup.sh --nvcc)")

PREAMBLE = """
namespace c10 { struct BFloat16 { unsigned short bits; }; }
namespace anvil::kernels {
template <class Op, class T, class In, class Out, int kInputs>
struct ElementwisePacked { Out* out; const In* in; int n; };
template <class Kernel> __global__ void entry(Kernel k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  BODY
}
struct Copy {};
using Kernel = ElementwisePacked<Copy, float, float, float, 1>;
template __global__ void entry<Kernel>(Kernel);
}
"""


def compile_kernel(folder: pathlib.Path, body: str, *flags: str) -> tuple[pathlib.Path, list[cuda_gates.Kernel]]:
    """Compiles a kernel with this body for sm_90; returns the cubin and what ptxas said."""
    source = folder / "planted.cu"
    source.write_text(PREAMBLE.replace("BODY", body))
    binary = folder / "planted.cubin"
    assert NVCC is not None
    result = subprocess.run(
        [NVCC, "-std=c++20", "-arch=sm_90", "-Xptxas", "-v", "-cubin", *flags, source, "-o", binary],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return binary, cuda_gates.parse_ptxas(result.stderr + result.stdout)


CLEAN = "if (i < k.n / 4) reinterpret_cast<float4*>(k.out)[i] = reinterpret_cast<const float4*>(k.in)[i];"
NARROW = "if (i < k.n) k.out[i] = k.in[i];"
STACK = "float a[64] = {}; for (int j = 0; j < k.n; ++j) a[int(k.in[j]) & 63] += k.in[j]; k.out[i] = a[i & 63];"
MANY_VALUES = """
  float a[128];
  #pragma unroll
  for (int j = 0; j < 128; ++j) a[j] = k.in[i + j * k.n];
  __syncthreads();
  #pragma unroll
  for (int j = 0; j < 128; ++j) k.out[i + j * k.n] = a[j] * a[(j + 64) % 128];
"""


@needs_nvcc
def test_a_clean_kernel_passes(tmp_path):
    binary, kernels = compile_kernel(tmp_path, CLEAN)
    assert [(k.architecture, k.stack, k.spills) for k in kernels] == [("sm_90", 0, 0)]
    assert "ElementwisePacked<anvil::kernels::Copy, float" in kernels[0].name
    assert cuda_gates.check_stack(kernels, []) == []
    assert cuda_gates.check_loads(cuda_gates.disassemble(binary, "sm_90", NVCC), packs=1) == (1, [])


@needs_nvcc
def test_a_stack_is_found(tmp_path):
    _, kernels = compile_kernel(tmp_path, STACK)
    problems = cuda_gates.check_stack(kernels, [])
    assert len(problems) == 1
    assert "256 bytes of stack" in problems[0]


@needs_nvcc
def test_spills_are_found(tmp_path):
    _, kernels = compile_kernel(tmp_path, MANY_VALUES, "-maxrregcount=32")
    assert kernels[0].spills > 0
    assert len(cuda_gates.check_stack(kernels, [])) == 1


@needs_nvcc
def test_single_element_loads_are_found(tmp_path):
    binary, _ = compile_kernel(tmp_path, NARROW)
    count, problems = cuda_gates.check_loads(cuda_gates.disassemble(binary, "sm_90", NVCC), packs=1)
    assert count == 1
    assert len(problems) == 1
    assert "0 16-byte loads for 1 of each of 1 inputs" in problems[0]


# entry<ElementwisePacked<Add, float, float, float, 2> >
ADD = "_ZN5anvil7kernels5entryINS0_17ElementwisePackedINS0_3AddEfffLi2EEEEEvT_"


def test_each_input_needs_its_wide_loads():
    wide, narrow = "LDG.E.128 R4, desc[UR4][R2.64] ;\n", "LDG.E R4, desc[UR4][R2.64] ;\n"
    assert cuda_gates.check_loads([(ADD, 4 * wide + 2 * narrow)]) == (1, [])
    assert cuda_gates.check_loads([(ADD, 4 * wide.replace("128", "128.CONSTANT"))]) == (1, [])
    for code in (2 * wide + 2 * narrow, 4 * wide.replace("128", "64"), ""):
        assert len(cuda_gates.check_loads([(ADD, code)])[1]) == 1
    in_double = ADD.replace("fffL", "dddL")
    assert cuda_gates.check_loads([(in_double, narrow)]) == (0, [])


def kernel(name: str, stack: int = 0, spills: int = 0) -> cuda_gates.Kernel:
    return cuda_gates.Kernel(name, "sm_90", 32, stack, spills)


def elementwise(driver: str, *types: str) -> cuda_gates.Kernel:
    arguments = ", ".join(("anvil::kernels::PowerOf<float>", *types))
    return kernel(f"void anvil::kernels::entry<anvil::kernels::{driver}<{arguments}, 1> >(anvil::kernels::...)")


def test_an_operator_without_a_dense_kernel_is_found():
    strided = elementwise("ElementwiseStrided", "float")
    dense = [elementwise("ElementwisePacked", "float", dtype, dtype) for dtype in ("float", "c10::BFloat16")]
    assert cuda_gates.check_dense([strided, *dense]) == []
    assert "PowerOf<float> has no dense kernel for c10::BFloat16" in cuda_gates.check_dense([strided, dense[0]])[0]
    assert len(cuda_gates.check_dense([strided, dense[1], elementwise("ElementwiseStrided", "double")])) == 1


SINE = {"kernel": "<Sin, ", "most_bytes": 40, "reason": "slow path of the argument reduction"}


def test_the_list_allows_what_it_names_up_to_its_size():
    assert cuda_gates.check_stack([kernel("entry<Sin, float>", stack=40)], [SINE]) == []
    assert len(cuda_gates.check_stack([kernel("entry<Sin, float>", stack=48)], [SINE])) == 1
    assert len(cuda_gates.check_stack([kernel("entry<Sin, float>", 40), kernel("entry<Exp, float>", 8)], [SINE])) == 1


def test_a_listed_kernel_may_not_spill():
    problems = cuda_gates.check_stack([kernel("entry<Sin, float>", stack=40, spills=8)], [SINE])
    assert len(problems) == 1
    assert "8 bytes of spills" in problems[0]


def test_an_entry_that_matches_nothing_fails():
    problems = cuda_gates.check_stack([kernel("entry<Sin, float>"), kernel("entry<Exp, float>")], [SINE])
    assert len(problems) == 1
    assert "matches no kernel" in problems[0]


def test_an_entry_without_a_reason_is_an_error(tmp_path):
    path = tmp_path / "stack.yaml"
    path.write_text("- {kernels: [Sin], most_bytes: 40, reason: ''}")
    with pytest.raises(ValueError, match="reason"):
        cuda_gates.load_exceptions(path)
    path.write_text("- {kernels: [Sin], most_bytes: 40}")
    with pytest.raises(ValueError, match="reason"):
        cuda_gates.load_exceptions(path)


def test_each_name_of_the_list_must_match(tmp_path):
    path = tmp_path / "stack.yaml"
    path.write_text("- {kernels: ['<Sin, ', '<Cos, '], most_bytes: 40, reason: slow path}")
    exceptions = cuda_gates.load_exceptions(path)
    sine = kernel("entry<Sin, float>", stack=40)
    assert cuda_gates.check_stack([sine, kernel("entry<Cos, float>", stack=40)], exceptions) == []
    assert cuda_gates.check_stack([sine], exceptions) == ["the list's entry '<Cos, ' matches no kernel with a stack: remove it"]


def test_the_list_of_the_tree_can_be_read():
    cuda_gates.load_exceptions(ROOT / "aten_ops/kernels/cuda/stack.yaml")
