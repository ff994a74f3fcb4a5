"""The command line of a script that writes a page of docs/."""

from __future__ import annotations

import pathlib
import sys


def write_or_check(page: pathlib.Path, text: str, root: pathlib.Path) -> int:
    """Writes the page; with --check only compares it, and says which script to run. The exit status."""
    if "--check" in sys.argv[1:]:
        if not page.exists() or page.read_text() != text:
            script = pathlib.Path(sys.argv[0]).name
            print(f"{page.relative_to(root)} is stale: run python ci/{script}", file=sys.stderr)
            return 1
        return 0
    page.write_text(text)
    return 0
