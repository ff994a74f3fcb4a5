"""Builds the CUDA kernel library and checks what can be checked without a GPU; ci/check_cuda_build.sh configures the build.

    python ci/check_cuda_build.py [--build-folder build] [--jobs 2]

It compiles for every architecture of ANVIL_CUDA_ARCHITECTURES and links; then: no kernel spills registers, and none has a
stack but those in aten_ops/kernels/cuda/stack.yaml; every elementwise operator has dense kernels for float32 and bfloat16,
and all dense kernels load 16 bytes at a time; the library needs no CUDA runtime and exports its table only.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

import cuda_gates

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(folder: pathlib.Path, jobs: int) -> tuple[str, list[pathlib.Path]]:
    """Builds the library; returns the path of nvcc and the objects that it made."""
    subprocess.run(["cmake", "--build", folder, "--target", "anvil_kernels_cuda", "-j", str(jobs)], check=True)
    commands = subprocess.run(
        ["ninja", "-C", folder, "-t", "commands", "anvil_kernels_cuda"], capture_output=True, text=True, check=True
    ).stdout
    match = re.search(r"(\S*nvcc) -std", commands)
    if match is None:
        raise RuntimeError("the build of anvil_kernels_cuda runs no nvcc")
    return match[1], [folder / path for path in sorted(set(re.findall(r"-MT (\S+\.cu\.o)", commands)))]


def check_symbols(library: pathlib.Path) -> list[str]:
    """The library reaches CUDA by the table alone."""

    def names(*options: str) -> list[str]:
        lines = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
        return [line.split()[-1].split("@")[0] for line in lines.splitlines()]

    problems = [
        f"the library needs {name} from a CUDA library; forward it (aten_ops/kernels/cuda/forwarders.cpp)"
        for name in names("--undefined-only")
        if re.match(r"_*cu(da)?[A-Z]", name)
    ]
    exported = [name for name in names("--defined-only", "--extern-only") if name]
    if exported != ["anvil_kernel_table"]:
        problems.append(f"the library exports {exported}; it may export anvil_kernel_table only")
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    problems += [f"the library is linked with {name}" for name in re.findall(r"NEEDED.*\[(libcu\S+)\]", dynamic)]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-folder", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    begin = time.monotonic()
    nvcc, objects = build(arguments.build_folder, arguments.jobs)
    print(f"anvil_kernels_cuda: built in {time.monotonic() - begin:.0f} s")
    logs = {path: path.with_name(path.name + ".ptxas").read_text() for path in objects}
    kernels = [kernel for log in logs.values() for kernel in cuda_gates.parse_ptxas(log)]
    by_architecture = collections.Counter(kernel.architecture for kernel in kernels)
    problems = [] if kernels else ["ptxas reported no kernel"]
    problems += cuda_gates.check_stack(kernels, cuda_gates.load_exceptions(ROOT / "aten_ops/kernels/cuda/stack.yaml"))

    problems += cuda_gates.check_dense(kernels)

    def loads(job: tuple[pathlib.Path, str]) -> tuple[int, list[str]]:
        binary, architecture = job
        count, wrong = cuda_gates.check_loads(cuda_gates.disassemble(binary, architecture, nvcc))
        return count, [f"{architecture}: {problem}" for problem in wrong]

    # Only objects that have such kernels are worth disassembling.
    objects = [path for path, log in logs.items() if "ElementwisePacked" in log]
    packed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for count, wrong in pool.map(loads, [(o, a) for o in objects for a in sorted(by_architecture)]):
            packed += count
            problems += wrong
    if not packed:
        problems.append("no dense elementwise kernel was found to check the loads of")
    problems += check_symbols(arguments.build_folder / "lib/libanvil_kernels_cuda.so")

    of = ", ".join(f"{count} for {architecture}" for architecture, count in sorted(by_architecture.items()))
    print(f"kernels: {of}; 16-byte loads checked in {packed}; {time.monotonic() - begin:.0f} s in all")
    for problem in problems:
        print(f"anvil: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
