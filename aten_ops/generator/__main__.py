"""``python -m generator --output FOLDER LIST.yaml...``: writes the files that changed; ``--check`` says which would."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import emit
from .operator_list import ListError, load
from .schema import Schema


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="generator", description=__doc__)
    parser.add_argument("lists", nargs="+", type=Path, help="operator lists, aten_ops/*.yaml")
    parser.add_argument("--output", type=Path, required=True, help="folder of the generated files")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is missing or stale")
    options = parser.parse_args(arguments)
    try:
        files = emit.files(load(options.lists), Schema())
    except ListError as error:
        print(f"operator list: {error}", file=sys.stderr)
        return 1
    stale = [name for name, text in files.items() if not _same(options.output / name, text)]
    if options.check:
        if stale:
            print(f"stale: {', '.join(sorted(stale))}; run the build again", file=sys.stderr)
        return 1 if stale else 0
    options.output.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (options.output / name).write_text(files[name])
    return 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
