"""How one cell of the operator sweep is compared: the functions in CHECKS, one for each kind.

A function returns if the cell is as it should be, raises AssertionError (or what the operator raised) if not, and Nothing if
the cell has nothing to compare, with the reason.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from operator_comparison import Nothing, Raised, compare, run
from operator_sweep import DEVICE, OPINFOS, Cell, map_tensors, on_device, reference_dtype, samples_of, seed, table, tensors_in
from torch._subclasses import fake_tensor
from torch.testing._internal.opinfo.core import SampleInput


def moved(cell: Cell, sample: SampleInput) -> tuple[Any, tuple, dict]:
    return on_device(sample, host_arguments=cell.operator in table().host_arguments)


@contextmanager
def only_allowed_fallbacks(cell: Cell) -> Iterator[None]:
    """No fallback but those that the table lists for the operator."""
    allowed = table().falls_back.get(cell.operator)
    if allowed is None:
        with torch.anvil.forbid_fallback():
            yield
        return
    torch.anvil.reset_operator_stats()
    yield
    others = set(torch.anvil.fallback_stats()) - {f"aten::{name}" for name in allowed}
    assert not others, f"falls back: {sorted(others)}"


# Which of several equal elements comes first is not specified: their indices are compared by what they point at.
ORDERS_TIES = {"argsort": "dim", "sort": "dim", "topk": "dim", "msort": None}


def by_value(cell: Cell, sample: SampleInput, result: Any) -> Any:
    """The result with indices of equal elements made comparable."""
    if cell.operator not in ORDERS_TIES or isinstance(result, Raised) or sample.kwargs.get("stable"):
        return result
    dim = sample.kwargs.get("dim", -1)
    position = 1 if cell.operator == "topk" else 0
    if len(sample.args) > position:
        dim = sample.args[position]

    def value(tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.cpu()
        if tensor.dtype != torch.int64 or cell.operator == "msort":
            return tensor
        return sample.input.detach().gather(dim, tensor) if tensor.dim() else tensor

    if isinstance(result, torch.Tensor):
        return value(result)
    return [value(tensor) for tensor in result] if len(result) == 1 else [result[0].cpu(), value(result[1])]


def describe(sample: SampleInput) -> str:
    def short(tensor: torch.Tensor) -> str:
        return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}/{list(tensor.stride())}"

    parts = map_tensors((sample.input, *sample.args), short)
    return f"sample: {parts} {map_tensors(dict(sample.kwargs), short)}"


def each_sample(cell: Cell, check: Callable[[SampleInput], bool | None], **options: Any) -> None:
    """check(sample) for all samples; a failure names the sample. check returns False if it compared nothing."""
    compared = 0
    for sample in samples_of(cell, **options):
        try:
            compared += check(sample) is not False
        except Exception as error:
            error.add_note(describe(sample))
            raise
    if not compared:
        raise Nothing("no chosen sample has anything to compare")


def reference(cell: Cell, sample: SampleInput) -> Any:
    """The operator's result on the CPU, computed in a wider dtype where the CPU lacks the cell's."""
    info = OPINFOS[cell.operator]
    wide = reference_dtype(info, cell.dtype)
    if wide == cell.dtype:
        return run(lambda: info.op(sample.input, *sample.args, **sample.kwargs))

    def widened(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(wide) if tensor.dtype == cell.dtype else tensor

    def narrowed(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(cell.dtype) if tensor.dtype == wide else tensor

    args = map_tensors(tuple(sample.args), widened)
    kwargs = {k: wide if v == cell.dtype else v for k, v in map_tensors(dict(sample.kwargs), widened).items()}
    return map_tensors(run(lambda: info.op(map_tensors(sample.input, widened), *args, **kwargs)), narrowed)


def check_forward(cell: Cell) -> None:
    def check(sample: SampleInput) -> None:
        value, args, kwargs = moved(cell, sample)
        expected = reference(cell, sample)
        with only_allowed_fallbacks(cell):
            ours = run(lambda: OPINFOS[cell.operator].op(value, *args, **kwargs))
        compare(cell, by_value(cell, sample, ours), by_value(cell, sample, expected))

    each_sample(cell, check)


def check_noncontiguous(cell: Cell) -> None:
    def check(sample: SampleInput) -> None:
        sample = sample.noncontiguous()
        value, args, kwargs = moved(cell, sample)
        expected = reference(cell, sample)
        with only_allowed_fallbacks(cell):
            ours = run(lambda: OPINFOS[cell.operator].op(value, *args, **kwargs))
        compare(cell, by_value(cell, sample, ours), by_value(cell, sample, expected))

    each_sample(cell, check)


def check_gradients(cell: Cell) -> None:
    info = OPINFOS[cell.operator]

    def gradients(sample: SampleInput, value: Any, args: tuple, kwargs: dict) -> Any:
        output = info.op(value, *args, **kwargs)
        if sample.output_process_fn_grad is not None:
            output = sample.output_process_fn_grad(output)
        outputs = [t for t in tensors_in(output) if t.requires_grad]
        leaves = [t for t in tensors_in((value, args, kwargs)) if t.requires_grad]
        if not outputs or not leaves:
            return []
        seed(1)
        grads = [torch.randn(t.shape, dtype=t.dtype).to(t.device) for t in outputs]
        return list(torch.autograd.grad(outputs, leaves, grads, allow_unused=True))

    def check(sample: SampleInput) -> bool:
        inputs = moved(cell, sample)
        with only_allowed_fallbacks(cell):
            ours = run(lambda: gradients(sample, *inputs))
        theirs = run(lambda: gradients(sample, sample.input, tuple(sample.args), dict(sample.kwargs)))
        compare(cell, ours, theirs, "gradient")
        return theirs != []

    each_sample(cell, check, requires_grad=True)


def check_out(cell: Cell) -> None:
    """out= of the right size keeps its memory; an empty one, one of another size and one with strides are written too."""
    info = OPINFOS[cell.operator]

    def check(sample: SampleInput) -> bool:
        expected = run(lambda: info.op(sample.input, *sample.args, **sample.kwargs))
        if isinstance(expected, Raised) or not tensors_in(expected):
            return False
        outputs = tensors_in(expected)
        value, args, kwargs = moved(cell, sample)

        def write(out: list[torch.Tensor], value: Any, args: tuple, kwargs: dict) -> Any:
            argument = out[0] if isinstance(expected, torch.Tensor) else tuple(out)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a resized output that has elements
                result = run(lambda: info.op(value, *args, **kwargs, out=argument))
            return result if isinstance(result, Raised) else out

        makers = {
            "an out of the right size": torch.empty_like,
            "an empty out": lambda t, device: torch.empty(0, dtype=t.dtype, device=device),
            "an out with strides": lambda t, device: torch.empty([2 * n for n in t.shape], dtype=t.dtype, device=device)[
                tuple(slice(None, None, 2) for _ in t.shape)
            ],
            "an out of another dtype": lambda t, device: torch.empty(
                t.shape, dtype=torch.int32 if t.dtype == torch.float64 else torch.float64, device=device
            ),
        }
        for what, make in makers.items():
            ours = [make(t, device=DEVICE) for t in outputs]
            theirs = [make(t, device="cpu") for t in outputs]
            pointers = [t.data_ptr() for t in ours]
            wrote = write(theirs, sample.input, tuple(sample.args), dict(sample.kwargs))
            with only_allowed_fallbacks(cell):
                got = write(ours, value, args, kwargs)
            # Not what the CPU wrote: some of its kernels ignore the strides of out.
            if not isinstance(wrote, Raised):
                wrote = [e.to(t.dtype) for e, t in zip(outputs, theirs)]
            compare(cell, by_value(cell, sample, got), by_value(cell, sample, wrote), what)
            if what != "an empty out" and not isinstance(wrote, Raised):
                assert [t.data_ptr() for t in ours] == pointers, f"{what} lost its memory"
                for our, their in zip(ours, theirs):
                    assert our.numel() == 0 or our.stride() == their.stride(), f"{what} has other strides"
        return True

    each_sample(cell, check)


def check_inplace(cell: Cell) -> None:
    inplace = OPINFOS[cell.operator].inplace_variant

    def check(sample: SampleInput) -> bool:
        if sample.broadcasts_input or not isinstance(sample.input, torch.Tensor):
            return False
        value, args, kwargs = moved(cell, sample)
        expected = run(lambda: inplace(sample.input.clone(), *sample.args, **sample.kwargs))
        target = value.clone()
        pointer = target.untyped_storage().data_ptr()
        operator_keeps_size = not isinstance(expected, Raised) and expected.shape == target.shape
        with only_allowed_fallbacks(cell):
            ours = run(lambda: inplace(target, *args, **kwargs))
        compare(cell, ours, expected)
        if not isinstance(expected, Raised):
            assert ours is target, "another tensor was returned"
            if operator_keeps_size:
                assert ours.untyped_storage().data_ptr() == pointer, "the memory is another"
        return True

    each_sample(cell, check)


def check_errors(cell: Cell) -> None:
    info = OPINFOS[cell.operator]
    raised = 0
    for error in info.error_inputs_func(info, str(DEVICE)):
        sample = error.sample_input
        raised += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                info.op(sample.input, *sample.args, **sample.kwargs)
                torch.anvil.synchronize()
        except error.error_type as caught:
            if re.search(error.error_regex, str(caught)):
                continue
            raise AssertionError(
                f"{describe(sample)}\nraised    {str(caught).splitlines()[0]}\nbut wanted {error.error_regex}"
            ) from None
        except Exception as caught:
            raise AssertionError(
                f"{describe(sample)}\nraised    {type(caught).__name__}: {caught}\nbut wanted {error.error_type}: "
                f"{error.error_regex}"
            ) from None
        raise AssertionError(f"{describe(sample)}\nraised nothing, but wanted {error.error_regex}")
    if not raised:
        raise Nothing("no error inputs on this device")


def check_strides(cell: Cell) -> None:
    """Shapes, dtypes and strides are what fake tensors on cuda:0 say, for contiguous, strided and permuted inputs."""
    info = OPINFOS[cell.operator]

    def transposed(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() < 2 or tensor.layout != torch.strided:
            return tensor
        return tensor.detach().transpose(0, -1).contiguous().transpose(0, -1)

    def permuted(sample: SampleInput) -> SampleInput:
        return SampleInput(
            map_tensors(sample.input, transposed),
            args=map_tensors(tuple(sample.args), transposed),
            kwargs=map_tensors(dict(sample.kwargs), transposed),
        )

    def to_fake(tensor: torch.Tensor) -> torch.Tensor:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda:0")

    def same_layout(layout: str, inputs: tuple[Any, tuple, dict], theirs: Any) -> bool:
        value, args, kwargs = inputs
        ours = run(lambda: info.op(value, *args, **kwargs))
        if isinstance(ours, Raised):
            raise AssertionError(f"{layout} inputs raise {ours}, and fake tensors do not")
        for our, their in zip(tensors_in(ours), tensors_in(theirs), strict=True):
            assert our.dtype == their.dtype, f"{layout} inputs: {our.dtype}, on CUDA {their.dtype}"
            assert our.shape == their.shape, f"{layout} inputs: {tuple(our.shape)}, on CUDA {tuple(their.shape)}"
            # The stride of a dimension of one element, or of an empty tensor, has no meaning.
            if our.numel() > 1:
                got, wanted = ([s for n, s in zip(t.shape, t.stride()) if n > 1] for t in (our, their))
                assert got == wanted, f"{layout} inputs: strides {our.stride()} of {our.shape}, on CUDA {their.stride()}"
        return bool(tensors_in(theirs))

    def check(sample: SampleInput) -> bool:
        compared = False
        for layout, variant in {
            "contiguous": sample,
            "strided": sample.noncontiguous(),
            "permuted": permuted(sample),
        }.items():
            if cell.operator in table().strides_of_cpu:
                theirs = run(lambda variant=variant: info.op(variant.input, *variant.args, **variant.kwargs))
                if isinstance(theirs, Raised):
                    continue
                compared |= same_layout(layout, moved(cell, variant), theirs)
                continue
            with fake_tensor.FakeTensorMode():
                value, args, kwargs = on_device(variant, "cuda:0", to_fake)
                try:
                    theirs = info.op(value, *args, **kwargs)
                except (
                    fake_tensor.DataDependentOutputException,
                    fake_tensor.DynamicOutputShapeException,
                    fake_tensor.UnsupportedOperatorException,
                ):
                    continue
                except (RuntimeError, IndexError, ValueError, TypeError):
                    continue  # forward compares what is raised
            compared |= same_layout(layout, moved(cell, variant), theirs)
        return compared

    each_sample(cell, check)


CHECKS: dict[str, Callable[[Cell], None]] = {
    "forward": check_forward,
    "noncontiguous": check_noncontiguous,
    "gradients": check_gradients,
    "out": check_out,
    "inplace": check_inplace,
    "errors": check_errors,
    "strides": check_strides,
}
