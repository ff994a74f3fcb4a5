"""Who includes what: the table of docs/architecture.md, and a few rules that keep the files readable."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCE_ENDINGS = {".h", ".cpp", ".cu", ".inc"}

OURS = ("python/", "aten_ops/", "backend/", "runtime/", "test/")
TORCH = ("ATen/", "c10/", "torch/", "caffe2/")
# What device code may use of c10: scalar types and the macros that they need.
C10_SCALARS = re.compile(
    r"c10/(util/(BFloat16|Half|Float8_\w+|Float4_\w+|complex|bit_cast|TypeSafeSignMath|floating_point_utils)(-\w+)?\.h"
    r"|core/ScalarType\.h|macros/Macros\.h)|torch/headeronly/.+"
)

# folder: what its files may include of the project, and of torch. The first folder that holds a file counts.
RULES = {
    "runtime/simulator/blas/": (("runtime/simulator/blas/", "runtime/simulator/extension.h"), False),
    "runtime/simulator/": (("runtime/simulator/",), False),
    "runtime/": (("runtime/",), False),
    "backend/": (("backend/", "runtime/"), True),
    "aten_ops/kernels/": (("aten_ops/kernels/", "runtime/"), "scalars"),
    "aten_ops/": (("aten_ops/", "backend/", "runtime/"), True),
    "python/": (("python/", "aten_ops/", "backend/", "runtime/"), True),
}

# The longest file that still has one concept.
MAX_LINES = 400


def tracked() -> list[pathlib.Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [pathlib.Path(name) for name in listing.split("\0") if name and (ROOT / name).is_file()]


def sources() -> list[pathlib.Path]:
    return [path for path in tracked() if path.suffix in SOURCE_ENDINGS]


def text_of(path: pathlib.Path) -> str:
    return (ROOT / path).read_text()


def violations(path: pathlib.Path) -> list[str]:
    folder = next((folder for folder in RULES if str(path).startswith(folder)), None)
    if folder is None:
        return []
    allowed, torch = RULES[folder]
    found = []
    for _, name in INCLUDE.findall(text_of(path)):
        if name.startswith(("c10/cuda", "ATen/cuda", "c10/hip", "ATen/hip")):
            found.append(f"{name}: asserts is_cuda, and is missing from CPU builds of torch")
        elif name.startswith(OURS) and not name.startswith(allowed):
            found.append(f"{name}: {folder} may include {', '.join(allowed)}")
        elif name.startswith(TORCH):
            if torch is False:
                found.append(f"{name}: {folder} has no torch in it")
            elif torch == "scalars" and not C10_SCALARS.fullmatch(name):
                found.append(f"{name}: kernels may include c10's scalar types only")
    return found


@pytest.mark.parametrize("folder", RULES)
def test_each_folder_includes_only_what_stands_below_it(folder):
    files = [path for path in sources() if next((f for f in RULES if str(path).startswith(f)), None) == folder]
    assert files, f"{folder} is empty"
    found = {str(path): violations(path) for path in files}
    assert not {path: problems for path, problems in found.items() if problems}


def test_the_rules_find_a_violation(monkeypatch):
    """The test above could not fail if the pattern did not match."""
    text = '#include "backend/Stream.h"\n# include <c10/cuda/CUDAStream.h>\n#include <ATen/ATen.h>\n'
    monkeypatch.setattr(f"{__name__}.text_of", lambda path: text)
    assert len(violations(pathlib.Path("runtime/x.cpp"))) == 3
    assert len(violations(pathlib.Path("aten_ops/kernels/x.cu"))) == 3
    assert len(violations(pathlib.Path("backend/x.cpp"))) == 1


def test_includes_of_the_project_are_written_from_the_root():
    for path in sources():
        for bracket, name in INCLUDE.findall(text_of(path)):
            if bracket == '"' and not name.endswith(".inc"):
                assert name.startswith((*OURS, "generated/")), f"{path} includes {name}"


def test_only_the_extension_links_python():
    """libpython and libtorch_python are for the extension alone."""
    for path in sources():
        if not str(path).startswith("python/"):
            for _, name in INCLUDE.findall(text_of(path)):
                assert not re.match(r"Python\.h|pybind11/|torch/csrc/(?!api|autograd|jit|profiler)", name), f"{path}: {name}"


def test_no_file_is_too_long_to_have_one_concept():
    lengths = {str(path): len(text_of(path).splitlines()) for path in tracked() if path.suffix in {*SOURCE_ENDINGS, ".py"}}
    assert not {path: length for path, length in lengths.items() if length > MAX_LINES}


def test_headers_are_included_once():
    for path in sources():
        if path.suffix == ".h":
            assert "#pragma once" in text_of(path), path


def test_no_blanket_using_in_headers():
    for path in sources():
        if path.suffix == ".h":
            assert not re.search(r"^using namespace", text_of(path), re.MULTILINE), path
