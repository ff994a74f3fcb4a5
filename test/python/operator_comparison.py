"""What the operator sweep compares with: results that raised, tolerances, and values with their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from operator_sweep import DEVICE, Cell, seed, table
from torch.testing._comparison import default_tolerances

# torch.testing's defaults, but for bfloat16 and half: the CPU may round intermediate results to the dtype where the device
# keeps float32, so two results may differ by two units in the last place.
TOLERANCE = {torch.float16: (2e-3, 1e-3), torch.bfloat16: (1.6e-2, 1e-2), torch.complex32: (2e-3, 1e-3)}

# A gradient that several elements share is a sum of terms, each of them rounded, in an order of its own.
GRADIENT_TOLERANCE = {torch.float16: (1e-2, 1e-2), torch.bfloat16: (8e-2, 8e-2), torch.float32: (1e-5, 1e-4)}


class Nothing(Exception):
    """The cell has nothing to compare; says why."""


@dataclass
class Raised:
    """What an operator raised, without what names a device or a kernel."""

    type: type
    text: str

    @classmethod
    def by(cls, error: Exception) -> Raised:
        text = re.sub(r"\b(cpu|anvil:0|anvil|privateuseone:0|CPU|PrivateUse1|cuda:0|cuda|CUDA)\b", "DEVICE", str(error))
        text = re.sub(r"\(\s+", "(", text)
        text = re.sub(r'"\w+" not implemented for', "not implemented for", text)
        return cls(type(error), text.split("\nException raised from")[0].strip())


def run(function: Callable[[], Any]) -> Any:
    """The function's result, or Raised; on the device, after its work is done."""
    seed(0)
    try:
        result = function()
        torch.anvil.synchronize()
        return result
    except (RuntimeError, IndexError, ValueError, TypeError, AssertionError, NotImplementedError) as error:
        return Raised.by(error)


def tolerance_of(cell: Cell, result: torch.dtype) -> tuple[float, float]:
    """(rtol, atol): the table's, else the looser of those of the cell's dtype and of the result's."""

    def default(dtype: torch.dtype) -> tuple[float, float]:
        if cell.kind == "gradients" and dtype in GRADIENT_TOLERANCE:
            return GRADIENT_TOLERANCE[dtype]
        return TOLERANCE.get(dtype) or default_tolerances(dtype)

    if wider := cell.dtype and table().tolerance(cell.operator, cell.dtype):
        return wider
    if cell.dtype is None or not (result.is_floating_point or result.is_complex):
        return default(result)
    # Functions of integers are computed in float32, whatever they are stored as.
    computed = cell.dtype if cell.dtype.is_floating_point or cell.dtype.is_complex else torch.float32
    return max(default(computed), default(result))


def compare(cell: Cell, ours: Any, theirs: Any, where: str = "result") -> None:
    """ours (on the device) is theirs (on the CPU), or both raised the same."""
    if isinstance(theirs, Raised) or isinstance(ours, Raised):
        assert isinstance(ours, Raised), f"the CPU raises {theirs}, the device does not"
        assert isinstance(theirs, Raised), f"the device raises {ours}, the CPU does not"
        assert ours == theirs, f"raised\n  {ours}\nbut the CPU\n  {theirs}"
        return
    if isinstance(theirs, (list, tuple)) and not isinstance(theirs, torch.Size):
        assert len(ours) == len(theirs), f"{where}: {len(ours)} values, {len(theirs)} on the CPU"
        for index, (our, their) in enumerate(zip(ours, theirs)):
            compare(cell, our, their, f"{where}[{index}]")
        return
    if not isinstance(theirs, torch.Tensor):
        if isinstance(theirs, (float, complex)):
            torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), equal_nan=True)
        elif isinstance(theirs, (bool, int, str, torch.Size, torch.dtype, type(None))):
            assert ours == theirs, f"{where}: {ours}, on the CPU {theirs}"
        return
    assert ours.device.type in (DEVICE.type, "anvil") or theirs.device.type != "cpu" or ours.device.type == "cpu"
    if cell.operator in table().dtypes_of_cuda:
        theirs = theirs.to(ours.dtype)
        if theirs.numel() == 0:
            return
    assert ours.dtype == theirs.dtype, f"{where}: {ours.dtype}, on the CPU {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{where}: {tuple(ours.shape)}, on the CPU {tuple(theirs.shape)}"
    if cell.operator in table().unspecified_values:
        return
    rtol, atol = tolerance_of(cell, theirs.dtype)
    torch.testing.assert_close(
        ours.detach().cpu().resolve_conj().resolve_neg(),
        theirs.detach().resolve_conj().resolve_neg(),
        rtol=rtol,
        atol=atol,
        equal_nan=True,
        msg=lambda text: f"{where}: {text}",
    )
