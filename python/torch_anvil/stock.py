"""``python -m torch_anvil.stock``: runs a program under stock ``torch.cuda`` on the simulator.

The program is unmodified and its process has stock torch only: the simulator is loaded in place of the CUDA runtime, and
Anvil's autoload is off.
"""

from __future__ import annotations

import argparse
import atexit
import os
import runpy
import sys
import types

_DESCRIPTION = """\
Runs a program under stock torch.cuda without a GPU, on Anvil's simulator. Stock's own kernels are device code, which the
simulator does not have: launching one is an error that names it, or with --kernels=count is counted and does nothing, so
that a program runs through with undefined numbers."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m torch_anvil.stock",
        usage="%(prog)s [--kernels=refuse|count] [--counts=FILE] (SCRIPT | -m MODULE | -c CODE) [ARGUMENTS]",
        description=_DESCRIPTION,
        epilog="The simulated device is chosen by environment variables: see docs/simulator.md.",
    )
    parser.add_argument("--kernels", choices=("refuse", "count"), default="refuse")
    parser.add_argument("--counts", metavar="FILE", help="where the counts go at the end (default: stderr)")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as python -m does")
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="run code, as python -c does")
    parser.add_argument("script", nargs=argparse.REMAINDER, help="run a script")
    return parser


def main(arguments: list[str]) -> None:
    parser = _parser()
    options = parser.parse_args(arguments)
    program = options.module or options.code or options.script
    if not program:
        parser.error("a SCRIPT, -m MODULE or -c CODE is needed")

    # The program's process has no part of this package: `import torch_anvil` in it is a first import.
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_anvil"]:
        del sys.modules[name]
    import torch_anvil_stock

    os.environ[torch_anvil_stock._KERNELS] = options.kernels
    try:
        torch_anvil_stock.activate()
    except RuntimeError as error:
        sys.exit(f"anvil: {error}")
    if options.kernels == "count":
        atexit.register(_write_counts, options.counts)

    if options.module:
        _run_module(program)
    elif options.code:
        _run(program[0], "<string>", "", ["-c", *program[1:]])
    else:
        _run_script(program)


def _run_module(program: list[str]) -> None:
    sys.argv = program
    sys.path[0] = os.getcwd()
    runpy.run_module(program[0], run_name="__main__", alter_sys=True)


def _run_script(program: list[str]) -> None:
    path = program[0]
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.exit(f"anvil: cannot open {path}: {error.strerror}")
    _run(source, path, os.path.dirname(os.path.abspath(path)), program)


def _run(source: str | bytes, file: str, folder: str, arguments: list[str]) -> None:
    """As the interpreter runs a program: in a module ``__main__`` of its own."""
    main_module = types.ModuleType("__main__")
    if folder:
        main_module.__file__ = file
    main_module.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main_module
    sys.argv = arguments
    sys.path[0] = folder
    exec(compile(source, file, "exec"), main_module.__dict__)


def _write_counts(path: str | None) -> None:
    import torch_anvil_stock

    counts = sorted(torch_anvil_stock.kernel_counts().items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{launches:8} {name}\n" for name, launches in counts]
    text = f"{sum(launches for _, launches in counts):8} kernels counted, none run\n" + "".join(lines)
    if path is None:
        sys.stderr.write(text)
        return
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
