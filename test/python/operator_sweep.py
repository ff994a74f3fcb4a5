"""What the operator sweep runs: the table in operator_sweep.yaml held against torch's OpInfos.

``claimed`` lists the OpInfos that run on the device without a fallback; the sweep compares each with the CPU for every
dtype that CUDA claims. ``exclusions`` lists single (operator, test, dtype) cells that are not compared, each with a reason.
``python operator_sweep.py --census`` prints which OpInfos run without a fallback today, for keeping the table.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

TABLE = Path(__file__).with_suffix(".yaml")

# The share that runs for every change: samples per cell, chosen with a seed. ANVIL_SWEEP=full runs all of them.
FULL = os.environ.get("ANVIL_SWEEP") == "full"
SEED = int(os.environ.get("ANVIL_SWEEP_SEED", "0"))
SAMPLES_PER_CELL = 3

OPINFOS: dict[str, OpInfo] = {info.full_name: info for info in op_db}


@dataclass(frozen=True)
class Exclusion:
    """One kind of comparison that is not made for an operator, and why."""

    operator: str
    tests: tuple[str, ...]
    dtypes: tuple[str, ...]  # empty: all
    reason: str

    def covers(self, operator: str, test: str, dtype: torch.dtype) -> bool:
        return (
            operator == self.operator
            and test in self.tests
            and (not self.dtypes or str(dtype).removeprefix("torch.") in self.dtypes)
        )


def load_table() -> tuple[list[str], list[Exclusion]]:
    """Reads the table; an unknown operator, a missing reason or an unknown key is an error."""
    data = yaml.safe_load(TABLE.read_text())
    claimed = data["claimed"]
    unknown = sorted(set(claimed) - set(OPINFOS))
    if unknown:
        raise ValueError(f"{TABLE.name}: no OpInfo in this torch is called {unknown}")
    exclusions = []
    for entry in data.get("exclusions") or []:
        extra = set(entry) - {"operator", "tests", "dtypes", "reason"}
        if extra or not str(entry.get("reason", "")).strip():
            raise ValueError(f"{TABLE.name}: entry {entry} needs operator, tests, a reason, and may have dtypes")
        exclusions.append(Exclusion(entry["operator"], tuple(entry["tests"]), tuple(entry.get("dtypes", ())), entry["reason"]))
    return claimed, exclusions


def cuda_dtypes(info: OpInfo) -> list[torch.dtype]:
    """The dtypes that CUDA claims for the operator, in a stable order."""
    return sorted(info.supported_dtypes("cuda"), key=str)


def share(samples: Iterator[SampleInput], key: str) -> list[SampleInput]:
    """All samples if FULL, else a seeded few; the first is always kept."""
    chosen = list(itertools.islice(samples, 400))
    if FULL or len(chosen) <= SAMPLES_PER_CELL:
        return chosen
    rest = random.Random(f"{SEED}/{key}").sample(chosen[1:], SAMPLES_PER_CELL - 1)
    return [chosen[0], *rest]


def map_tensors(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Applies ``function`` to every tensor in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(v, function) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(v, function) for v in value)
    if isinstance(value, dict):
        return {k: map_tensors(v, function) for k, v in value.items()}
    if isinstance(value, torch.Size):
        return value
    return value


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    map_tensors(value, lambda t: found.append(t) or t)
    return found


def to_device(sample: SampleInput, device: torch.device) -> tuple[Any, tuple, dict]:
    """The sample's tensors on ``device`` with the same strides, as leaves that require grad where they did."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout != torch.strided:
            return tensor.to(device)
        with torch.no_grad():
            moved = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
            if 0 in tensor.stride():
                moved = tensor.detach().to(device)
            else:
                moved.copy_(tensor)
        return moved.requires_grad_(tensor.requires_grad)

    def device_arguments(value: Any) -> Any:
        if isinstance(value, torch.device):
            return device
        if isinstance(value, str) and value == "cpu":
            return str(device)
        return value

    args = tuple(device_arguments(a) for a in map_tensors(tuple(sample.args), move))
    kwargs = {k: device_arguments(v) for k, v in map_tensors(dict(sample.kwargs), move).items()}
    return map_tensors(sample.input, move), args, kwargs


def census() -> None:
    """Prints, for each OpInfo, the operators that fell back on its first float32 (or first) sample."""
    device = torch.device("privateuseone:0")
    for name, info in sorted(OPINFOS.items()):
        dtypes = cuda_dtypes(info)
        dtype = torch.float32 if torch.float32 in dtypes else (dtypes[0] if dtypes else None)
        if dtype is None:
            continue
        grad = info.supports_autograd and dtype.is_floating_point
        torch.anvil.reset_operator_stats()
        try:
            torch.manual_seed(0)
            for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=grad), 8):
                value, args, kwargs = to_device(sample, device)
                result = info.op(value, *args, **kwargs)
                outputs = [t for t in tensors_in(result) if t.requires_grad]
                if outputs:
                    leaves = [t for t in tensors_in((value, args, kwargs)) if t.requires_grad]
                    torch.autograd.grad(outputs, leaves, [torch.ones_like(t) for t in outputs], allow_unused=True)
            torch.anvil.synchronize()
            fallbacks = sorted(torch.anvil.fallback_stats())
            print(f"{name}\t{'native' if not fallbacks else 'falls back: ' + ' '.join(fallbacks)}")
        except Exception as error:  # a census goes on
            print(f"{name}\terror: {type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--census"]:
        census()
    else:
        print(__doc__)
