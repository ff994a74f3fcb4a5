"""What the operator sweep runs: the table in operator_sweep.yaml held against torch's OpInfos.

``claimed`` lists the OpInfos that run on the device without a fallback; each is compared with the CPU for every dtype that
CUDA claims. Everything else in the table restricts that, each entry with its reason.
operator_cells.py and operator_comparison.py hold the comparisons, operator_census.py is for keeping the table.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

TABLE = Path(__file__).with_suffix(".yaml")
DEVICE = torch.device("privateuseone:0")

# The share that runs for every change: few samples of each cell, chosen with a seed. ANVIL_SWEEP=full runs all of them.
FULL = os.environ.get("ANVIL_SWEEP") == "full"
SEED = int(os.environ.get("ANVIL_SWEEP_SEED", "0"))
SAMPLES_PER_CELL = 3
SAMPLES_TO_CHOOSE_FROM = 60

KINDS = ("forward", "noncontiguous", "gradients", "out", "inplace", "errors", "strides")

OPINFOS: dict[str, OpInfo] = {info.full_name: info for info in op_db}

# Where the CPU has no kernel for a dtype, the reference is computed in a wider one.
WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


def name_of(dtype: torch.dtype | None) -> str:
    return "all" if dtype is None else str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class Cell:
    """One comparison: an operator (the full name of its OpInfo), what is compared, and the dtype (None: of its own)."""

    operator: str
    kind: str
    dtype: torch.dtype | None

    def __str__(self) -> str:
        return f"{self.operator}-{self.kind}-{name_of(self.dtype)}"


@dataclass(frozen=True)
class Exclusion:
    """Cells that are not compared, and why. Patterns of operators are those of fnmatch."""

    operator: str
    kinds: tuple[str, ...]  # empty: all
    dtypes: tuple[str, ...]  # empty: all
    reason: str

    def covers(self, cell: Cell) -> bool:
        return (
            fnmatchcase(cell.operator, self.operator)
            and (not self.kinds or cell.kind in self.kinds)
            and (not self.dtypes or name_of(cell.dtype) in self.dtypes)
        )


@dataclass(frozen=True)
class Tolerance:
    """A wider tolerance of one operator, and why it is one."""

    operator: str
    dtypes: tuple[str, ...]
    rtol: float
    atol: float
    reason: str


class Table:
    """operator_sweep.yaml. An unknown operator, a missing reason or an unknown key is an error."""

    def __init__(self, path: Path = TABLE):
        data = yaml.safe_load(path.read_text())
        self.claimed: list[str] = data["claimed"]
        self.unspecified_values: dict[str, str] = data["unspecified_values"]
        self.host_arguments: dict[str, str] = data["host_arguments"]
        self.dtypes_of_cuda: dict[str, str] = data["dtypes_of_cuda"]
        self.strides_of_cpu: dict[str, str] = data["strides_of_cpu"]
        self.falls_back: dict[str, list[str]] = data["falls_back"]
        self.exclusions = [
            Exclusion(e["operator"], tuple(e.get("kinds", ())), tuple(e.get("dtypes", ())), e["reason"])
            for e in self._entries(data, "exclusions", {"operator", "kinds", "dtypes", "reason"})
        ]
        self.tolerances = [
            Tolerance(e["operator"], tuple(e["dtypes"]), float(e["rtol"]), float(e["atol"]), e["reason"])
            for e in self._entries(data, "tolerances", {"operator", "dtypes", "rtol", "atol", "reason"})
        ]
        named = [self.unspecified_values, self.host_arguments, self.dtypes_of_cuda, self.strides_of_cpu, self.falls_back]
        unknown = sorted(set(self.claimed).union(*named) - set(OPINFOS))
        unknown += [e.operator for e in self.exclusions if not any(fnmatchcase(n, e.operator) for n in self.claimed)]
        if unknown:
            raise ValueError(f"{path.name}: no OpInfo in this torch is called {unknown}, or none of them is claimed")
        if bad := {k for e in self.exclusions for k in e.kinds if k not in KINDS}:
            raise ValueError(f"{path.name}: kinds are {KINDS}, got {bad}")

    @staticmethod
    def _entries(data: dict, key: str, allowed: set[str]) -> list[dict]:
        for entry in data[key] or []:
            if set(entry) - allowed or not str(entry.get("reason", "")).strip():
                raise ValueError(f"{key}: entry {entry} has {sorted(allowed)}, and must have a reason")
        return data[key] or []

    def tolerance(self, operator: str, dtype: torch.dtype) -> tuple[float, float] | None:
        for entry in self.tolerances:
            if fnmatchcase(operator, entry.operator) and name_of(dtype) in entry.dtypes:
                return entry.rtol, entry.atol
        return None

    def excluded(self, cell: Cell) -> str | None:
        """The reason why ``cell`` is not compared, or None."""
        return next((e.reason for e in self.exclusions if e.covers(cell)), None)


@cache
def table() -> Table:
    return Table()


def cuda_dtypes(info: OpInfo) -> list[torch.dtype]:
    """The dtypes that CUDA claims for the operator, in a stable order."""
    return sorted(info.supported_dtypes("cuda"), key=str)


def reference_dtype(info: OpInfo, dtype: torch.dtype) -> torch.dtype | None:
    """The dtype in which the CPU can compute what is compared with; None if it has none."""
    return next((d for d in (dtype, WIDER.get(dtype)) if d in info.dtypes), None)


def cells(operator: str) -> Iterator[Cell]:
    """All cells of an operator that mean something, excluded ones too."""
    info = OPINFOS[operator]
    backward = info.supported_backward_dtypes("cuda") & info.supported_backward_dtypes("cpu")
    for dtype in cuda_dtypes(info):
        yield Cell(operator, "strides", dtype)
        if reference_dtype(info, dtype) is None:
            continue
        yield Cell(operator, "forward", dtype)
        yield Cell(operator, "noncontiguous", dtype)
        if dtype not in info.dtypes:
            continue
        if info.supports_autograd and dtype in backward and dtype != torch.complex32:
            yield Cell(operator, "gradients", dtype)
        if info.supports_out:
            yield Cell(operator, "out", dtype)
        if info.inplace_variant is not None:
            yield Cell(operator, "inplace", dtype)
    if info.error_inputs_func is not None:
        yield Cell(operator, "errors", None)


def in_share(cell: Cell) -> bool:
    """Whether the cell runs for every change: forward always, of the other kinds float32, int64 and one more dtype."""
    if FULL or cell.kind in ("forward", "errors") or cell.dtype in (torch.float32, torch.int64):
        return True
    others = [d for d in cuda_dtypes(OPINFOS[cell.operator]) if d not in (torch.float32, torch.int64)]
    return cell.dtype == random.Random(f"{SEED}/{cell.operator}/{cell.kind}").choice(others)


def seed(value: int) -> None:
    """torch.manual_seed for the two devices that matter; that of stock CUDA keeps a traceback of each call."""
    torch.default_generator.manual_seed(value)
    torch.anvil.manual_seed(value)


def drops_out(operator: str, sample: SampleInput) -> bool:
    """Whether the operator is one of attention's, and its dropout is on."""
    if operator == "nn.functional.multi_head_attention_forward":
        return sample.args[9] > 0 and sample.kwargs.get("training", True)
    return sample.kwargs.get("dropout_p", 0) > 0


def samples_of(cell: Cell, requires_grad: bool = False, dtype: torch.dtype | None = None) -> list[SampleInput]:
    """The cell's samples on the CPU: all if FULL, else a seeded few, of which the first is always one.

    Samples with sparse tensors are left out: Anvil has none. So are those with dropout: test_random.py has that.
    """
    seed(0)
    info = OPINFOS[cell.operator]
    # OpInfo.sample_inputs inspects the whole Python stack to name the test: most of the sweep's time.
    samples = info.sample_inputs_func(info, "cpu", dtype or cell.dtype, requires_grad)

    def comparable(sample: SampleInput) -> bool:
        tensors = tensors_in((sample.input, tuple(sample.args), dict(sample.kwargs)))
        return all(t.layout == torch.strided for t in tensors) and not drops_out(cell.operator, sample)

    dense = (sample for sample in samples if comparable(sample))
    if FULL:
        return list(dense)
    chosen = list(itertools.islice(dense, SAMPLES_TO_CHOOSE_FROM))
    if len(chosen) <= SAMPLES_PER_CELL:
        return chosen
    rest = random.Random(f"{SEED}/{cell}").sample(chosen[1:], SAMPLES_PER_CELL - 1)
    return [chosen[0], *rest]


def map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """Applies ``function`` to every tensor in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(v, function) for v in value))
    if isinstance(value, tuple) and type(value) is not tuple:  # torch.return_types
        return tuple(map_tensors(v, function) for v in value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(v, function) for v in value)
    if isinstance(value, dict):
        return {k: map_tensors(v, function) for k, v in value.items()}
    return value


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    map_tensors(value, found.append)
    return found


def on_device(
    sample: SampleInput,
    device: torch.device | str = DEVICE,
    move: Callable[[torch.Tensor], torch.Tensor] | None = None,
    host_arguments: bool = False,
) -> tuple[Any, tuple, dict]:
    """(input, args, kwargs) of the sample with its tensors on ``device``, and its device arguments naming it.

    Tensors keep their strides, and are leaves that require grad where they did. host_arguments: only the input moves.
    """

    def copied(tensor: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            # All of the memory that the tensor is a view of: some operators look at it (as_strided).
            flags = tensor.is_conj(), tensor.is_neg()
            memory = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
            moved = memory.to(device).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
            moved = torch._conj(moved) if flags[0] else moved
            moved = torch._neg_view(moved) if flags[1] else moved
        return moved.detach().requires_grad_(tensor.requires_grad)

    def device_arguments(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device(device)
        return str(device) if isinstance(value, str) and value == "cpu" else value

    move = move or copied
    move_argument = (lambda t: t) if host_arguments else move
    args = tuple(device_arguments(a) for a in map_tensors(tuple(sample.args), move_argument))
    kwargs = {k: device_arguments(v) for k, v in map_tensors(dict(sample.kwargs), move_argument).items()}
    return map_tensors(sample.input, move), args, kwargs
