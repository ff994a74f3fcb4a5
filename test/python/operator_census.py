"""Development of the operator sweep, from the command line.

python operator_census.py census                                    which OpInfos run without a fallback today
python operator_census.py run [--kind K] [--dtype D] [PATTERN...]   runs claimed cells, prints those that fail
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from fnmatch import fnmatchcase

import torch
from operator_sweep import KINDS, OPINFOS, Cell, cells, cuda_dtypes, name_of, on_device, seed, table, tensors_in
from operator_worker import Outcome, Worker


def census_of(cell: Cell) -> Outcome:
    """Which operators fell back on the first samples of the cell's operator."""
    info = OPINFOS[cell.operator]
    grad = info.supports_autograd and cell.dtype.is_floating_point
    torch.anvil.reset_operator_stats()
    seed(0)
    ran, last = 0, None
    for sample in itertools.islice(info.sample_inputs_func(info, "cpu", cell.dtype, grad), 12):
        try:
            value, args, kwargs = on_device(sample)
            outputs = [t for t in tensors_in(info.op(value, *args, **kwargs)) if t.requires_grad]
            leaves = [t for t in tensors_in((value, args, kwargs)) if t.requires_grad]
            if outputs and leaves:
                torch.autograd.grad(outputs, leaves, [torch.ones_like(t) for t in outputs], allow_unused=True)
            ran += 1
        except Exception as error:
            last = error
    torch.anvil.synchronize()
    if fallbacks := sorted(torch.anvil.fallback_stats()):
        return Outcome("passed", f"falls back: {' '.join(fallbacks)}")
    if not ran:
        return Outcome("passed", f"error: {type(last).__name__}: {str(last).splitlines()[:1]}")
    return Outcome("passed", "native")


def census(worker: Worker) -> None:
    for name, info in sorted(OPINFOS.items()):
        dtypes = cuda_dtypes(info)
        if dtypes:
            dtype = torch.float32 if torch.float32 in dtypes else dtypes[0]
            print(f"{name}\t{worker.run(Cell(name, 'census', dtype)).text}", flush=True)


def run(worker: Worker, arguments: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    names = [
        n for n in (table().claimed if not arguments.all else OPINFOS) if any(fnmatchcase(n, p) for p in arguments.pattern)
    ]
    for cell in itertools.chain.from_iterable(cells(n) for n in names):
        if arguments.kind and cell.kind not in arguments.kind:
            continue
        if arguments.dtype and name_of(cell.dtype) not in arguments.dtype:
            continue
        if table().excluded(cell) and not arguments.excluded:
            continue
        start = time.monotonic()
        outcome = worker.run(cell)
        seconds[cell.operator] += time.monotonic() - start
        counts[outcome.kind] += 1
        if outcome.is_bad:
            print(f"=== {outcome.kind.upper()} {cell}\n{outcome.text.rstrip()}", flush=True)
    print(dict(counts), f"{sum(seconds.values()):.0f} s; slowest:", [(n, round(s, 1)) for n, s in seconds.most_common(8)])
    return int(counts["failed"] + counts["lost"] > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["census", "run"])
    parser.add_argument("pattern", nargs="*", default=["*"], help="names of operators, with * and ?")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--dtype", action="append")
    parser.add_argument("--all", action="store_true", help="operators that are not claimed, too")
    parser.add_argument("--excluded", action="store_true", help="excluded cells, too")
    arguments = parser.parse_intermixed_args()
    worker = Worker()
    try:
        return run(worker, arguments) if arguments.command == "run" else census(worker) or 0
    finally:
        worker.close()


if __name__ == "__main__":
    sys.exit(main())
