"""Writes docs/not_executed_without_gpu.md: the code that a machine without a GPU compiles but cannot run.

    python ci/not_executed.py [--check]

Found in the sources: files that only a CUDA build uses (named cuda_*, *_cuda.* or in a folder cuda/), and blocks under
``__CUDACC__`` or ``__CUDA_ARCH__``. What the SIMT checker compiles too is executed by the tests, so it is not listed.
``--check`` fails if the page is stale.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from generated_page import write_or_check

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "not_executed_without_gpu.md"
FOLDERS = ("runtime", "backend", "aten_ops", "python")
SUFFIXES = (".h", ".cpp", ".cu")
CUDA_ONLY = re.compile(r"(^|/)cuda/|(^|/)cuda_[^/]*$|_cuda\.[a-z]+$")
MACROS = re.compile(r"\b__CUDACC__\b|\b__CUDA_ARCH__\b")
OTHER_EXECUTORS = re.compile(r"!\s*defined\(__CUDACC__\)|ANVIL_SIMT_CHECKER")

TEXT = """\
# Not executed without a GPU

Everything else runs on the simulator. This code is compiled by `bash ci/check_cuda_build.sh` (part of `.ci/run`), which
allows no spills and few stacks, but only a GPU executes it. Written by `python ci/not_executed.py`.

## Files

| file | what it is |
|---|---|
{files}

## Parts of files that other executors compile too

The lines that only nvcc sees.

| file | lines |
|---|---|
{blocks}
"""


def sources() -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path.relative_to(ROOT) for path in found)


def first_sentence(path: Path) -> str:
    """Of the comment at the head of a file."""
    lines = []
    for line in (ROOT / path).read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    text = " ".join(lines)
    return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0].rstrip(".:")


def conditions(path: Path):
    """Yields (line, conditions of the open #if blocks) for each line of code."""
    open_blocks: list[str] = []
    for line in (ROOT / path).read_text().splitlines():
        text = line.strip()
        if match := re.match(r"#\s*(if|ifdef|ifndef)\b(.*)", text):
            open_blocks.append(match.group(2) if match.group(1) != "ifndef" else f"!defined({match.group(2).strip()})")
        elif match := re.match(r"#\s*(elif|else)\b(.*)", text):
            # The branch of the other executors, where the condition before was CUDA's.
            open_blocks[-1] = match.group(2) if match.group(1) == "elif" else f"!({open_blocks[-1]})"
        elif re.match(r"#\s*endif", text):
            open_blocks.pop()
        elif text and not text.startswith("//"):
            yield text, list(open_blocks)


def only_cuda(blocks: list[str]) -> bool:
    return any(MACROS.search(c) and not OTHER_EXECUTORS.search(c) and not c.startswith("!(") for c in blocks)


def included_by_checker(paths: list[Path]) -> set[str]:
    """Files that an #include outside nvcc's own blocks reaches."""
    reached = set()
    for path in paths:
        for text, blocks in conditions(path):
            if (match := re.match(r'#\s*include "([^"]+)"', text)) and not only_cuda(blocks):
                reached.add(match.group(1))
    return reached


def page() -> str:
    paths = sources()
    reached = included_by_checker([p for p in paths if not CUDA_ONLY.search(str(p))])
    files, blocks = [], []
    for path in paths:
        if CUDA_ONLY.search(str(path)):
            if str(path) not in reached:
                files.append(f"| `{path}` | {first_sentence(path)} |")
            continue
        lines = sum(only_cuda(open_blocks) for _, open_blocks in conditions(path))
        if lines:
            blocks.append(f"| `{path}` | {lines} |")
    return TEXT.format(files="\n".join(files), blocks="\n".join(blocks))


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), ROOT))
