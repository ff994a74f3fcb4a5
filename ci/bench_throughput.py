"""Throughput of the simulator's kernels against torch's CPU kernels on one thread, in one run.

Both work on 1M float32 elements with the output allocated before (``out=`` where the operator has it). Short blocks of the
two alternate, so that a change of the machine's speed meets both, and the time of an operator is the minimum over the blocks.
That is the wall's clock: processor time misses short work of a second thread where the kernel samples it. On a machine that is
busy with other work the shares come out too low, as the device needs two threads at once: who enqueues, and a worker.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ.setdefault("ANVIL_DRIVER", "simulator")
os.environ["ANVIL_FALLBACK"] = "forbid"
os.environ["OMP_NUM_THREADS"] = "1"

import torch

SIZE = 1 << 20
ROWS = 1024
BLOCKS = 100
CALLS = 5
# The product's promise: at least this share of the CPU's throughput.
TARGET = 0.8

Operator = Callable[[], object]


def operators(device: str) -> dict[str, Operator]:
    generator = torch.Generator().manual_seed(0)
    flat = torch.randn(SIZE, generator=generator).to(device)
    other = torch.randn(SIZE, generator=generator).to(device)
    rows = flat.view(ROWS, SIZE // ROWS)
    weight = torch.randn(SIZE // ROWS, generator=generator).to(device)
    bias = torch.randn(SIZE // ROWS, generator=generator).to(device)
    out, rows_out, scalar_out = torch.empty_like(flat), torch.empty_like(rows), torch.empty((), device=device)
    transposed = rows.t()
    contiguous = torch.empty_like(transposed, memory_format=torch.contiguous_format)
    functional = torch.nn.functional
    return {
        "mul": lambda: torch.mul(flat, other, out=out),
        "exp": lambda: torch.exp(flat, out=out),
        "gelu": lambda: torch.ops.aten.gelu.out(flat, out=out),
        "sum": lambda: torch.sum(flat, 0, out=scalar_out),
        "row softmax": lambda: torch.softmax(rows, 1, out=rows_out),
        "layer norm": lambda: functional.layer_norm(rows, (SIZE // ROWS,), weight, bias),
        "strided copy": lambda: contiguous.copy_(transposed),
    }


def seconds_per_call(operator: Operator, synchronize: Callable[[], None]) -> float:
    synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        operator()
    synchronize()
    return (time.perf_counter() - begin) / CALLS


def main() -> None:
    torch.set_num_threads(1)
    device = operators("privateuseone")
    host = operators("cpu")
    print(f"{'':14} {'anvil, us':>11} {'CPU, us':>11} {'share':>7}")
    short = []
    for name in host:
        anvil, cpu = [], []
        for _ in range(BLOCKS):
            anvil.append(seconds_per_call(device[name], torch.accelerator.synchronize))
            cpu.append(seconds_per_call(host[name], lambda: None))
        anvil_time, cpu_time = min(anvil[1:]), min(cpu[1:])
        share = cpu_time / anvil_time
        if share < TARGET:
            short.append(name)
        print(f"{name:14} {anvil_time * 1e6:11.0f} {cpu_time * 1e6:11.0f} {share:7.2f}")
    print(f"at least {TARGET} of the CPU's throughput: {'no: ' + ', '.join(short) if short else 'yes'}")


if __name__ == "__main__":
    main()
