"""``python -m torch_anvil``: what was built, what is found here, and what is missing. Works when loading does not."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator


class _Report:
    def __init__(self) -> None:
        self.problems: list[str] = []

    def line(self, title: str, text: object) -> None:
        print(f"{title:18} {text}")

    def problem(self, text: str) -> None:
        self.problems.append(text)


def _versions(report: _Report) -> bool:
    """Prints the versions; False where there is no torch to go on with."""
    report.line("Python", f"{platform.python_version()} ({sys.executable})")
    try:
        from . import _build_info as built
    except ImportError:
        report.line("torch_anvil", "not built")
        report.problem("torch_anvil is not built. Install it with: pip install .")
        built = None
    if built is not None:
        report.line(
            "torch_anvil",
            f"{built.VERSION} ({built.BUILD_TYPE}), built for torch {built.TORCH_VERSION}, Python {built.PYTHON_VERSION}, "
            f"CUDA runtime {built.CUDA_VERSION}",
        )
    try:
        import torch
    except Exception as error:
        report.line("torch", "not importable")
        report.problem(f"torch cannot be imported: {error}. Install it with: pip install torch")
        return False
    stock = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "for CPUs"
    report.line("torch", f"{torch.__version__} {stock} ({os.path.dirname(torch.__file__)})")
    autoload = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1"
    report.line("autoload", "on" if autoload else "off (TORCH_DEVICE_BACKEND_AUTOLOAD)")
    return True


def _stock_device(report: _Report) -> None:
    from torch_anvil_autoload import _stock_device_files

    files = _stock_device_files()
    if files:
        report.line("stock device", f"{', '.join(files)}: import torch waits with the name anvil until the device is used")
    else:
        report.line("stock device", "none: import torch names the device anvil")


def _libraries(report: _Report) -> None:
    from ._load import LIBRARY_FOLDER

    kernels = {
        "libanvil_kernels_host.so": "kernels for the simulator",
        "libanvil_kernels_cuda.so": "kernels for GPUs",
    }
    for name, purpose in kernels.items():
        found = os.path.exists(os.path.join(LIBRARY_FOLDER, name))
        report.line(purpose, name if found else "not built")
        if not found and "cuda" in name:
            report.line("", "for a GPU, build with nvcc: pip install . -Ccmake.define.ANVIL_BUILD_CUDA=ON")


def _cuda(report: _Report) -> None:
    """The real CUDA runtime and driver, asked without the backend and without creating a context."""
    import ctypes

    for title, name, function in (
        ("CUDA driver", "libcuda.so.1", "cuDriverGetVersion"),
        ("CUDA runtime", "libcudart.so.13", "cudaRuntimeGetVersion"),
    ):
        try:
            version = ctypes.c_int()
            getattr(ctypes.CDLL(name), function)(ctypes.byref(version))
            report.line(title, f"{name}, version {version.value // 1000}.{version.value % 1000 // 10}")
        except (OSError, AttributeError):
            report.line(title, f"{name} not found")


def _environment(report: _Report) -> None:
    for name, value in sorted(os.environ.items()):
        if name.startswith("ANVIL_") or name in ("PYTORCH_ALLOC_CONF", "CUDA_VISIBLE_DEVICES"):
            report.line("environment", f"{name}={value}")


def _devices(report: _Report) -> None:
    import torch

    try:
        from ._activate import activate

        activate()
        anvil = torch.anvil
        report.line("driver", f"{anvil.driver()} (ANVIL_DRIVER={os.environ.get('ANVIL_DRIVER', 'auto')})")
        anvil.init()
        for index in range(anvil.device_count()):
            report.line(f"anvil:{index}", _device_text(index))
        result = torch.arange(4.0, device="anvil").mul(2).sum().item()
        if result != 12:
            report.problem(f"A sum on the device gave {result} instead of 12.")
    except Exception as error:
        report.problem(str(error).splitlines()[0])


def _device_text(index: int) -> str:
    import torch

    properties = torch.anvil.get_device_properties(index)
    free, total = torch.anvil.mem_get_info(index)
    return (
        f"{properties.name}, capability {properties.major}.{properties.minor}, "
        f"{properties.multi_processor_count} multiprocessors, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    )


def _conclusion(report: _Report) -> Iterator[str]:
    if not report.problems:
        yield "Everything that this machine needs is there."
    for problem in report.problems:
        yield f"Problem: {problem}"


def _parse_arguments() -> None:
    """There are none but --help."""
    argparse.ArgumentParser(
        prog="python -m torch_anvil",
        description="Prints what was built, what is found on this machine, and what is missing for torch.anvil to work.",
        epilog="The exit status is 0 if everything that this machine needs is there, else 1. Environment variables: see "
        "docs/environment_variables.md.",
    ).parse_args()


def main() -> int:
    _parse_arguments()
    report = _Report()
    if _versions(report):
        _stock_device(report)
        _libraries(report)
        _cuda(report)
        _environment(report)
        _devices(report)
    print()
    for line in _conclusion(report):
        print(line)
    return 1 if report.problems else 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # as in `python -m torch_anvil | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered is written at the end
        status = 1
    sys.exit(status)
