"""docs/private_surface.md names what Anvil uses of torch's private surface, all of it and nothing else."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "private_surface.md"

# Headers that torch installs, but does not document for use.
PRIVATE_HEADER = re.compile(
    r"#include <((?:ATen/native|ATen/detail|ATen/core/op_registration|torch/csrc|c10/core/impl)/[^>]+"
    r"|ATen/(?:EmptyTensor|autocast_mode|core/CachingHostAllocator)\.h|c10/core/CachingDeviceAllocator\.h)>"
)
# In C++ the functions of these namespaces, in Python names that begin with an underscore. A name that a macro goes on
# with (`foreach_tensor_##NAME`) is none.
PRIVATE_CPP = re.compile(r"\b(?:at::native|at::detail|c10::impl)::(\w+)\b(?!::|##)")
PRIVATE_PYTHON = re.compile(r"\btorch\.((?:_C|_utils|_subclasses|testing\._internal)(?:\.\w+)+|_(?!_)\w+)")
# Operators are public in the dispatcher, whatever the Python name.
OPERATOR = re.compile(r"_(foreach|fused|amp)_\w+|_(softmax|conj|neg_view|efficientzerotensor|assert_async)")


def sources(*patterns: str) -> dict[Path, str]:
    files = [p for folder in ("aten_ops", "backend", "python", "test") for q in patterns for p in (ROOT / folder).rglob(q)]
    return {p: p.read_text() for p in files if p != Path(__file__)}


def expand(text: str) -> set[str]:
    """The words of a text, with ``a{b,c}d`` as ``abd`` and ``acd``."""
    words = set(re.findall(r"[\w./:*{},]+", text))
    while any("{" in word for word in words):
        for word in [w for w in words if "{" in w]:
            words.remove(word)
            if group := re.search(r"\{([^{}]*)\}", word):
                words |= {word[: group.start()] + part + word[group.end() :] for part in group[1].split(",")}
    return words


def used() -> dict[str, set[str]]:
    """Private headers and names, each with the files that use it."""
    result: dict[str, set[str]] = {}
    for pattern, files in (
        (PRIVATE_HEADER, sources("*.h", "*.cpp")),
        (PRIVATE_CPP, {p: t for p, t in sources("*.h", "*.cpp").items() if "test" not in p.relative_to(ROOT).parts}),
        (PRIVATE_PYTHON, sources("*.py")),
    ):
        for path, text in files.items():
            for name in pattern.findall(text):
                if not OPERATOR.fullmatch(name):
                    result.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return result


@pytest.fixture(scope="module")
def page() -> set[str]:
    words = expand(PAGE.read_text())
    return words | {part for word in words for part in word.split("::")}


def has_row(name: str, page: set[str]) -> bool:
    """``torch._a.b`` is in the row of ``torch._a.b.c`` and of ``torch._a``, not of ``torch``; ``*`` is any characters."""
    if name in page or any("*" in word and len(word) > 8 and fnmatch(name, word) for word in page):
        return True
    full = f"torch.{name}"
    return any(w == full or w.startswith(f"{full}.") or (full.startswith(f"{w}.") and w.count(".") > 1) for w in page)


def test_every_private_header_and_name_has_a_row(page):
    missing = {name: sorted(files) for name, files in used().items() if not has_row(name, page)}
    assert not missing, f"{PAGE.name} lacks rows: {missing}"


def test_no_row_names_a_header_that_nothing_includes(page):
    headers = {word for word in page if re.match(r"(ATen|c10|torch/csrc)/[\w/]+\.h$", word)}
    text = "".join(sources("*.h", "*.cpp", "*.cu", "*.yaml", "*.py").values())
    assert not [h for h in headers if f"<{h}>" not in text and h not in text]
