"""What the compiled CUDA kernels must satisfy, read from ptxas' output and from the machine code."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator

import yaml


@dataclasses.dataclass(frozen=True)
class Kernel:
    """What ptxas says of one kernel for one architecture."""

    name: str  # demangled
    architecture: str  # sm_90
    registers: int
    stack: int  # bytes
    spills: int  # bytes stored and loaded


def demangle(names: Iterable[str]) -> list[str]:
    """The C++ names, with c++filt of the compiler's binutils."""
    output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return output.splitlines()


def parse_ptxas(text: str) -> list[Kernel]:
    """The kernels in the output of `nvcc -Xptxas -v`."""
    found = []
    name = architecture = None
    stack = spills = 0
    for line in text.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line):
            name, architecture = match.groups()
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            stack, spills = int(match[1]), int(match[2]) + int(match[3])
        elif (match := re.search(r"Used (\d+) registers", line)) and name and architecture:
            found.append((name, architecture, int(match[1]), stack, spills))
            name = None
    names = demangle(entry[0] for entry in found)
    return [Kernel(name, *entry[1:]) for name, entry in zip(names, found, strict=True)]


def load_exceptions(path: pathlib.Path) -> list[dict]:
    """The list of kernels that may use a stack, as an entry with kernel, most_bytes and reason for each name."""
    entries = []
    for group in yaml.safe_load(path.read_text()) or []:
        if set(group) != {"kernels", "most_bytes", "reason"} or not str(group["reason"]).strip():
            raise ValueError(f"{path.name}: an entry has kernels, most_bytes and reason; this one is {group}")
        entries += [{**group, "kernel": name} for name in group["kernels"]]
    return entries


def check_stack(kernels: list[Kernel], exceptions: list[dict]) -> list[str]:
    """What is wrong: kernels that spill, kernels with a stack that are not on the list, entries that match none."""
    problems = []
    used = [False] * len(exceptions)
    for kernel in kernels:
        if not kernel.stack and not kernel.spills:
            continue
        allowed = False
        for i, entry in enumerate(exceptions):
            if re.search(entry["kernel"], kernel.name):
                used[i] = True
                allowed = allowed or (kernel.spills == 0 and kernel.stack <= entry["most_bytes"])
        if not allowed:
            problems.append(
                f"{kernel.architecture}: {kernel.stack} bytes of stack, {kernel.spills} bytes of spills "
                f"({kernel.registers} registers): {kernel.name}"
            )
    problems += [
        f"the list's entry '{entry['kernel']}' matches no kernel with a stack: remove it"
        for entry, was_used in zip(exceptions, used, strict=True)
        if not was_used
    ]
    return problems


def toolkit_program(name: str, nvcc: str) -> tuple[str, dict[str, str]]:
    """Path of a program of the CUDA toolkit and the environment to run it in: nvcc's own, PyPI's, Triton's."""
    site = pathlib.Path(sysconfig.get_path("purelib"))
    folders = [
        pathlib.Path(nvcc).resolve().parent,
        site / "nvidia/cu13/bin",
        site / "triton/backends/nvidia/bin",
        *map(pathlib.Path, os.environ["PATH"].split(":")),
    ]
    search = ":".join(map(str, folders))
    program = shutil.which(name, path=search)
    if program is None:
        raise FileNotFoundError(
            f"{name} was not found beside nvcc; install it with: "
            'python -m pip install "$(python ci/cuda_pin.py cuobjdump,nvdisasm)"'
        )
    # cuobjdump runs nvdisasm.
    return program, {**os.environ, "PATH": search}


def disassemble(binary: pathlib.Path, architecture: str, nvcc: str) -> Iterator[tuple[str, str]]:
    """Mangled name and machine code of each kernel in an object or library."""
    program, environment = toolkit_program("cuobjdump", nvcc)
    process = subprocess.Popen(
        [program, "-sass", "-arch", architecture, binary], stdout=subprocess.PIPE, text=True, env=environment
    )
    name, lines = None, []
    assert process.stdout is not None
    for line in process.stdout:
        if match := re.match(r"\s+Function : (\S+)", line):
            if name:
                yield name, "".join(lines)
            name, lines = match[1], []
        elif name:
            lines.append(line)
    if name:
        yield name, "".join(lines)
    if process.wait() != 0:
        raise RuntimeError(f"cuobjdump -sass failed for {binary.name}")


# entry<ElementwisePacked<Op, T, In, Out, inputs> >: what `kernels` names their dense driver, and the other one.
_PACKED = re.compile(r"entry<anvil::kernels::ElementwisePacked<(.*), ([^,]+), ([^,]+), (\d+)> ?>")
_STRIDED = re.compile(r"entry<anvil::kernels::ElementwiseStrided<(.*), float, (\d+)> ?>")


def check_loads(functions: Iterable[tuple[str, str]], packs: int = 2) -> tuple[int, list[str]]:
    """How many dense elementwise kernels read elements of 4 bytes or less, and what is wrong with their loads.

    Each has at least `packs` 16-byte loads of each input (kPacks of elementwise_cuda.h); the loads of single elements
    beside them are the tail's. Of wider elements the compiler may read a half (signbit of a double).
    """
    functions = list(functions)
    count = 0
    problems = []
    for name, (_, code) in zip(demangle(f[0] for f in functions), functions, strict=True):
        match = _PACKED.search(name)
        if match is None or match[4] == "0" or match[2] in ("double", "long", "unsigned long"):
            continue
        count += 1
        wide = len(re.findall(r"\bLDG\.E\.128\b", code))
        if wide < packs * int(match[4]):
            problems.append(f"{wide} 16-byte loads for {packs} of each of {match[4]} inputs: {name}")
    return count, problems


def check_dense(kernels: Iterable[Kernel]) -> list[str]:
    """Elementwise operators that compute in float32 without a dense kernel for float32 or bfloat16 tensors."""
    strided, dense = set(), set()
    for kernel in kernels:
        if match := _PACKED.search(kernel.name):
            dense.add((match[1], match[2], match[4], kernel.architecture))
        elif match := _STRIDED.search(kernel.name):
            strided.add((match[1], match[2], kernel.architecture))
    return [
        f"{architecture}: {operator} has no dense kernel for {dtype}"
        for operator, inputs, architecture in sorted(strided)
        for dtype in ("float", "c10::BFloat16")
        if (f"{operator}, float", dtype, inputs, architecture) not in dense
    ]
