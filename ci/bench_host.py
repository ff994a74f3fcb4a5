"""Host instructions of an operator call: the device beside plain CPU, counted by callgrind.

    python ci/bench_host.py [--operators empty,view] [--iterations 1000]

Counts what the calling thread executes, Python included, for operators on 64 floats. Each operator runs a few times and
many times, and the difference is divided by the number of calls: start-up, the first call's work and the tool's own cancel.
Kernels run in the simulator's threads, which are not counted. One process for each device; a minute or two each. Valgrind knows
no AVX-512: where the kernels were built for it, it needs the target anvil_kernels_host_v3 too (ci/bench.sh builds it).

The limits are the ratios that the project holds itself to; stock CUDA's are shown for comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# operator -> (limit of ours against plain CPU, stock CUDA's ratio)
LIMITS = {"empty": (1.1, 1.37), "view": (1.05, 1.05), "mul": (1.4, 1.51), "add_": (1.25, 1.23)}
SHORT = 100


def measured_process(device: str, operators: list[str], iterations: int) -> None:
    """Runs inside callgrind: a dump of the counters after each run."""
    import torch

    torch.set_num_threads(1)
    x, y = torch.rand(64).to(device), torch.rand(64).to(device)
    calls = {
        "empty": lambda: torch.empty(64, device=device),
        "view": lambda: x.view(8, 8),
        "mul": lambda: torch.mul(x, y),
        "add_": lambda: x.add_(y),
    }

    def run(call, count: int) -> None:
        for _ in range(count):
            call()
        if device != "cpu":
            torch.accelerator.synchronize()

    def control(*command: str) -> None:
        # A child that is not traced tells callgrind what to do.
        subprocess.run(["callgrind_control", *command, str(os.getpid())], check=True, stdout=subprocess.DEVNULL)

    def dump() -> None:
        # Writes the counters and sets them to zero.
        control("--dump")

    control("--instr=on")  # importing torch would take minutes
    for name in operators:
        run(calls[name], SHORT)
        dump()
        for count in (SHORT, SHORT + iterations):
            run(calls[name], count)
            dump()


def dumps_of_main_thread(folder: Path) -> list[int]:
    """Instructions of the calling thread in each dump, in order."""
    found = []
    for path in folder.glob("callgrind.*-01"):
        text = path.read_text()
        number = re.search(r"^part: (\d+)", text, re.MULTILINE)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if number and total:
            found.append((int(number.group(1)), int(total.group(1))))
    return [total for _, total in sorted(found)]


def instructions(device: str, operators: list[str], iterations: int) -> dict[str, float]:
    """Instructions of one call of each operator."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={folder}/callgrind"]
        command += ["--instr-atstart=no", "--quiet", sys.executable, __file__, "--measured", device]
        command += ["--operators", ",".join(operators), "--iterations", str(iterations)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"callgrind failed on {device}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        totals = dumps_of_main_thread(Path(folder))
    if len(totals) < 3 * len(operators):
        sys.exit(f"callgrind wrote {len(totals)} dumps on {device}, expected {3 * len(operators)}")
    return {name: (totals[3 * index + 2] - totals[3 * index + 1]) / iterations for index, name in enumerate(operators)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", default=",".join(LIMITS), help="a part of: %(default)s")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--measured", help=argparse.SUPPRESS)
    options = parser.parse_args()
    operators = options.operators.split(",")
    unknown = [name for name in operators if name not in LIMITS]
    if unknown:
        parser.error(f"unknown operators {unknown}; known: {', '.join(LIMITS)}")
    if options.measured:
        measured_process(options.measured, operators, options.iterations)
        return
    if shutil.which("valgrind") is None or shutil.which("callgrind_control") is None:
        sys.exit("valgrind was not found; on Debian: apt-get install valgrind")

    cpu = instructions("cpu", operators, options.iterations)
    ours = instructions("anvil", operators, options.iterations)
    print(f"{'operator':10} {'CPU':>8} {'anvil':>8} {'ratio':>6} {'limit':>6} {'stock CUDA':>11}")
    for name in operators:
        limit, stock = LIMITS[name]
        ratio = ours[name] / cpu[name]
        print(
            f"{name:10} {cpu[name]:8.0f} {ours[name]:8.0f} {ratio:6.2f} {limit:6.2f} {stock:11.2f}"
            + ("" if ratio <= limit else "  above the limit")
        )
    if options.json:
        options.json.write_text(json.dumps({"cpu": cpu, "anvil": ours}, indent=2) + "\n")


if __name__ == "__main__":
    main()
