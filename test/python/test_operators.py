"""Every claimed operator against the CPU, over torch's own OpInfo samples, and its strides against CUDA's."""

from __future__ import annotations

import itertools
import warnings

import pytest
import torch
from operator_sweep import (
    OPINFOS,
    cuda_dtypes,
    load_table,
    map_tensors,
    share,
    tensors_in,
    to_device,
)
from torch._subclasses.fake_tensor import FakeTensorMode

CLAIMED, EXCLUSIONS = load_table()
DEVICE = torch.device("privateuseone:0")

# torch.testing's defaults, but for bfloat16 and half: the CPU may round intermediate results to the dtype where the device
# keeps float32, so two results may differ by two units in the last place.
TOLERANCE = {torch.float16: (2e-3, 1e-3), torch.bfloat16: (1.6e-2, 1e-2)}


def cells(test: str, dtypes=None):
    """pytest parameters (operator, dtype) for ``test``; excluded ones are left out (test_exclusions holds them)."""
    parameters = []
    for name in CLAIMED:
        for dtype in cuda_dtypes(OPINFOS[name]):
            if dtypes is not None and dtype not in dtypes:
                continue
            if any(e.covers(name, test, dtype) for e in EXCLUSIONS):
                continue
            parameters.append(pytest.param(name, dtype, id=f"{name}-{str(dtype).removeprefix('torch.')}"))
    return parameters


def samples_of(name, dtype, requires_grad=False):
    torch.manual_seed(0)
    info = OPINFOS[name]
    return share(info.sample_inputs("cpu", dtype, requires_grad=requires_grad), f"{name}/{dtype}")


def assert_same(actual, expected, dtype=None):
    assert len(tensors_in(actual)) == len(tensors_in(expected))
    for ours, theirs in zip(tensors_in(actual), tensors_in(expected)):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        rtol, atol = TOLERANCE.get(dtype or theirs.dtype, (None, None))
        torch.testing.assert_close(ours.detach().cpu(), theirs.detach(), rtol=rtol, atol=atol, equal_nan=True)


def both(info, sample, operator=None):
    """(result on the device, result on the CPU); an error on the CPU must be one on the device."""
    operator = operator or info.op
    value, args, kwargs = to_device(sample, DEVICE)
    with torch.anvil.forbid_fallback():
        ours = operator(value, *args, **kwargs)
    return ours, operator(sample.input, *sample.args, **sample.kwargs)


@pytest.mark.parametrize("name, dtype", cells("forward"))
def test_forward_equals_cpu(name, dtype):
    info = OPINFOS[name]
    if dtype not in info.dtypes:
        pytest.skip(f"the CPU has no {dtype} for {name} to compare with")
    for sample in samples_of(name, dtype):
        assert_same(*both(info, sample))


@pytest.mark.parametrize("name, dtype", cells("noncontiguous", (torch.float32, torch.bfloat16, torch.int64)))
def test_noncontiguous_inputs_equal_cpu(name, dtype):
    info = OPINFOS[name]
    if dtype not in info.dtypes:
        pytest.skip(f"the CPU has no {dtype} for {name} to compare with")
    for sample in samples_of(name, dtype):
        assert_same(*both(info, sample.noncontiguous()))


@pytest.mark.parametrize("name, dtype", cells("gradients", (torch.float32, torch.float64, torch.complex64)))
def test_gradients_equal_cpu(name, dtype):
    info = OPINFOS[name]
    if not info.supports_autograd or dtype not in info.supported_backward_dtypes("cpu"):
        pytest.skip(f"{name} has no gradient for {dtype}")
    compared = 0
    for sample in samples_of(name, dtype, requires_grad=True):
        value, args, kwargs = to_device(sample, DEVICE)
        results = []
        for inputs in ((value, args, kwargs), (sample.input, sample.args, sample.kwargs)):
            output = info.op(inputs[0], *inputs[1], **inputs[2])
            if sample.output_process_fn_grad is not None:
                output = sample.output_process_fn_grad(output)
            outputs = [t for t in tensors_in(output) if t.requires_grad]
            leaves = [t for t in tensors_in(inputs) if t.requires_grad]
            if not outputs or not leaves:
                results.append(None)
                continue
            torch.manual_seed(1)
            grads = [torch.randn(t.shape, dtype=t.dtype).to(t.device) for t in outputs]
            results.append(torch.autograd.grad(outputs, leaves, grads, allow_unused=True))
        if results[0] is None:
            assert results[1] is None
            continue
        for ours, theirs in zip(*results):
            assert (ours is None) == (theirs is None)
            if ours is not None:
                assert_same(ours, theirs)
                compared += 1
    if not compared:
        pytest.skip(f"no chosen sample of {name} has an input that requires grad")


@pytest.mark.parametrize("name, dtype", cells("out", (torch.float32, torch.int64)))
def test_out_is_written_and_resized(name, dtype):
    info = OPINFOS[name]
    if not info.supports_out or dtype not in info.dtypes:
        pytest.skip(f"{name} has no out= for {dtype}")
    for sample in samples_of(name, dtype):
        expected = info.op(sample.input, *sample.args, **sample.kwargs)
        outputs = tensors_in(expected)
        value, args, kwargs = to_device(sample, DEVICE)
        right = [torch.empty_like(t, device=DEVICE) for t in outputs]
        pointers = [t.data_ptr() for t in right]
        empty = [torch.empty(0, dtype=t.dtype, device=DEVICE) for t in outputs]
        for out in (right, empty):
            argument = out[0] if isinstance(expected, torch.Tensor) else tuple(out)
            with torch.anvil.forbid_fallback():
                info.op(value, *args, **kwargs, out=argument)
            for ours, theirs in zip(out, outputs):
                assert_same(ours, theirs)
        assert [t.data_ptr() for t in right] == pointers


@pytest.mark.parametrize("name, dtype", cells("inplace", (torch.float32, torch.bfloat16, torch.int64)))
def test_inplace_equals_cpu(name, dtype):
    info = OPINFOS[name]
    inplace = info.inplace_variant
    if inplace is None or dtype not in info.dtypes:
        pytest.skip(f"{name} has no in-place form for {dtype}")
    compared = 0
    for sample in samples_of(name, dtype):
        if sample.broadcasts_input:
            continue
        expected_input = sample.input.clone()
        try:
            expected = inplace(expected_input, *sample.args, **sample.kwargs)
        except RuntimeError:
            continue  # for example a result type that cannot be stored in place
        value, args, kwargs = to_device(sample, DEVICE)
        value = value.clone()
        with torch.anvil.forbid_fallback():
            ours = inplace(value, *args, **kwargs)
        assert ours is value
        assert_same(ours, expected)
        compared += 1
    if not compared:
        pytest.skip(f"no chosen sample of {name} can be computed in place")


@pytest.mark.parametrize("name", [n for n in CLAIMED if OPINFOS[n].error_inputs_func is not None])
def test_errors_are_upstreams(name):
    info = OPINFOS[name]
    raised = 0
    for error in itertools.islice(info.error_inputs(DEVICE), None):
        sample = error.sample_input
        if any(e.covers(name, "errors", torch.float32) for e in EXCLUSIONS):
            pytest.skip("excluded with a reason in operator_sweep.yaml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(error.error_type, match=error.error_regex):
                result = info.op(sample.input, *sample.args, **sample.kwargs)
                torch.anvil.synchronize()
                del result
        raised += 1
    if not raised:
        pytest.skip(f"{name} has no error inputs on this device")


@pytest.mark.parametrize("name, dtype", cells("strides", (torch.float32, torch.bool)))
def test_strides_and_dtypes_are_cudas(name, dtype):
    info = OPINFOS[name]
    for sample in samples_of(name, dtype):
        value, args, kwargs = to_device(sample, DEVICE)
        ours = info.op(value, *args, **kwargs)

        def to_fake(tensor):
            return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda:0")

        def cuda_argument(argument):
            return torch.device("cuda:0") if isinstance(argument, torch.device) else argument

        with FakeTensorMode():
            fake_args = tuple(cuda_argument(a) for a in map_tensors(args, to_fake))
            fake_kwargs = {k: cuda_argument(v) for k, v in map_tensors(kwargs, to_fake).items()}
            try:
                theirs = info.op(map_tensors(value, to_fake), *fake_args, **fake_kwargs)
            except torch._subclasses.fake_tensor.DataDependentOutputException:
                pytest.skip(f"the result of {name} depends on data: a fake tensor has none")
            except torch._subclasses.fake_tensor.DynamicOutputShapeException:
                pytest.skip(f"the shape of the result of {name} depends on data")
        for our, their in zip(tensors_in(ours), tensors_in(theirs), strict=True):
            assert our.dtype == their.dtype
            assert our.shape == their.shape
            if our.numel() > 1:
                assert [s for n, s in zip(our.shape, our.stride()) if n > 1] == [
                    s for n, s in zip(their.shape, their.stride()) if n > 1
                ]
