"""Copies between tensors, devices and dtypes, and what changes a tensor's sizes and storage. The reference is the CPU."""

from __future__ import annotations

import pytest
import torch

DTYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
]

# Layouts of a (4, 6, 5) tensor made from a dense one.
LAYOUTS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.transpose(0, 2).contiguous().transpose(0, 2),
    "strided": lambda t: torch.stack([t, t], dim=-1)[..., 0],
    "expanded": lambda t: t[:1].expand(4, 6, 5),
    "offset": lambda t: torch.cat([t, t])[2:6],
}


def values(dtype: torch.dtype) -> torch.Tensor:
    """Small integers of both signs where the dtype has them: every conversion of them is exact."""
    numbers = torch.arange(120).reshape(4, 6, 5) % 97 - (0 if dtype == torch.uint8 else 40)
    return numbers.to(dtype)


def place(like: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on the device with exactly these strides."""
    if 0 in like.stride():
        return place(like[:1].clone(memory_format=torch.contiguous_format), device).expand(like.shape)
    base = torch.zeros(like.untyped_storage().nbytes() // like.element_size(), dtype=like.dtype, device=device)
    placed = base.as_strided(like.shape, like.stride(), like.storage_offset())
    return placed.copy_(like)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_host_to_device_and_back_in_every_layout(device, layout, dtype):
    source = LAYOUTS[layout](values(dtype))
    on_device = source.to(device)
    assert on_device.device == device and on_device.dtype == dtype
    assert on_device.stride() == source.to("cpu", copy=True).stride()
    assert torch.equal(on_device.cpu(), source)


@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float32), (torch.float32, torch.int64), (torch.int32, torch.float16)])
def test_copy_between_any_two_layouts_and_dtypes(device, other_device, source, target, dtypes):
    if target == "expanded":
        target = "contiguous"  # copying into an expanded tensor is an error
    given = LAYOUTS[source](values(dtypes[0]))
    expected = given.to(dtypes[1])
    places = [torch.device("cpu"), device, other_device]
    for from_device in places:
        for to_device in places:
            result = place(LAYOUTS[target](torch.zeros(4, 6, 5, dtype=dtypes[1])), to_device)
            result.copy_(place(given, from_device))
            assert torch.equal(result.cpu(), expected), f"{from_device} -> {to_device}"


def test_copy_broadcasts(device):
    target = torch.zeros(2, 3, 4, device=device)
    target.copy_(torch.arange(4.0))
    assert torch.equal(target.cpu(), torch.arange(4.0).expand(2, 3, 4))
    target.copy_(torch.tensor(5.0, device=device))
    assert torch.equal(target.cpu(), torch.full((2, 3, 4), 5.0))


def test_copy_of_sizes_that_do_not_broadcast_names_both(device):
    with pytest.raises(RuntimeError, match=r"\(3\).*\(4\)|\[3\].*\[4\]"):
        torch.empty(3, device=device).copy_(torch.empty(4))


def test_copy_into_an_expanded_tensor_is_refused(device):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.empty(1, device=device).expand(4).copy_(torch.empty(4))


def test_empty_copies_do_nothing(device):
    assert torch.empty(0, 3).to(device).shape == (0, 3)
    torch.empty(0, device=device).copy_(torch.empty(0))


def test_copy_to_itself_and_between_overlapping_views(device):
    tensor = torch.arange(8.0, device=device)
    tensor.copy_(tensor)
    tensor[:4].copy_(tensor[4:])
    assert tensor.tolist() == [4.0, 5.0, 6.0, 7.0, 4.0, 5.0, 6.0, 7.0]


@pytest.mark.parametrize("way", ["host to device", "device to host", "on the device"])
def test_conjugate_and_negative_views_are_copied_by_value(device, way):
    cpu = torch.tensor([1 + 2j, 3 - 4j])
    for view in (lambda t: t.conj(), lambda t: t.conj().imag, lambda t: torch._neg_view(t)):
        expected = view(cpu).resolve_conj().resolve_neg()
        if way == "host to device":
            result = torch.empty_like(expected, device=device).copy_(view(cpu)).cpu()
        elif way == "device to host":
            result = torch.empty_like(expected).copy_(view(cpu.to(device)))
        else:
            result = torch.empty_like(expected, device=device).copy_(view(cpu.to(device))).cpu()
        assert torch.equal(result, expected)


def test_copy_into_a_conjugate_view(device):
    target = torch.zeros(2, dtype=torch.complex64, device=device)
    target.conj().copy_(torch.tensor([1 + 2j, 3 - 4j]))
    assert torch.equal(target.cpu(), torch.tensor([1 - 2j, 3 + 4j]))


def test_complex_to_real_warns_that_the_imaginary_part_is_lost(run_python):
    done = run_python("import torch; torch.ones(2, dtype=torch.complex64, device='anvil').to(torch.float32)")
    assert "discards the imaginary part" in done.stderr


# --- Without waiting.


def test_pinned_memory_is_copied_without_blocking_and_reused_only_after(device):
    for step in range(20):
        source = torch.full((1 << 16,), float(step)).pin_memory()
        assert source.is_pinned()
        copied = source.to(device, non_blocking=True)
        del source  # the allocator must not hand it out before the copy is done
        torch.full((1 << 16,), -1.0).pin_memory()
        assert copied.sum().item() == step * (1 << 16)


def test_device_to_pinned_memory_is_complete_after_synchronize(device):
    target = torch.zeros(1 << 16).pin_memory()
    target.copy_(torch.full((1 << 16,), 3.0, device=device), non_blocking=True)
    torch.anvil.synchronize()
    assert torch.equal(target, torch.full((1 << 16,), 3.0))


def test_pageable_source_may_change_as_soon_as_the_call_returns(device):
    source = torch.full((1 << 18,), 1.0)
    copied = source.to(device, non_blocking=True)
    source.fill_(2.0)
    assert copied.min().item() == 1.0 and copied.max().item() == 1.0


def test_copy_between_devices_orders_both_current_streams(device, other_device):
    source = torch.zeros(1 << 18, device=device)
    target = torch.zeros(1 << 18, device=other_device)
    for step in range(1, 10):
        source.fill_(step)
        target.fill_(-1)
        target.copy_(source)
        source.fill_(-2)
        assert target.min().item() == step and target.max().item() == step


# --- Scalars.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_item_equals_the_cpus(device, dtype):
    value = values(dtype)[1, 2, 3]
    assert value.to(device).item() == value.item()
    assert type(value.to(device).item()) is type(value.item())


def test_item_of_a_conjugate_view(device):
    assert torch.tensor(1 + 2j, device=device).conj().item() == 1 - 2j


def test_item_of_many_elements_is_refused(device):
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        torch.zeros(2, device=device).item()


# --- clone, to, contiguous, zero_.


@pytest.mark.parametrize("memory_format", [torch.preserve_format, torch.contiguous_format, torch.channels_last])
def test_clone_in_memory_formats_has_the_cpus_strides(device, memory_format):
    cpu = torch.arange(120.0).reshape(2, 3, 4, 5).transpose(1, 2)
    clone = place(cpu, device).clone(memory_format=memory_format)
    expected = cpu.clone(memory_format=memory_format)
    assert clone.stride() == expected.stride() and torch.equal(clone.cpu(), expected)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "expanded"])
def test_zero_in_every_layout_leaves_the_rest_alone(device, layout):
    cpu = LAYOUTS[layout](values(torch.float32)).clone(memory_format=torch.preserve_format)
    base = torch.ones(300, device=device)
    view = base.as_strided(cpu.shape, cpu.stride(), 3)
    view.zero_()
    reference = torch.ones(300)
    reference.as_strided(cpu.shape, cpu.stride(), 3).zero_()
    assert torch.equal(base.cpu(), reference)


# --- Sizes and storages.


def test_resize_keeps_elements_and_grows_storage(device):
    tensor = torch.arange(4.0, device=device)
    tensor.resize_(2, 5)
    assert tensor.shape == (2, 5) and tensor.stride() == (5, 1)
    assert tensor.flatten()[:4].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert tensor.untyped_storage().nbytes() == 40
    tensor.resize_(3)
    assert tensor.untyped_storage().nbytes() == 40


def test_resize_to_channels_last(device):
    tensor = torch.empty(0, device=device).resize_(2, 3, 4, 5, memory_format=torch.channels_last)
    assert tensor.is_contiguous(memory_format=torch.channels_last)


def test_set_shares_storage_and_checks_bounds(device):
    source = torch.arange(6.0, device=device)
    tensor = torch.empty(0, device=device)
    tensor.set_(source.untyped_storage(), 2, (2, 2), (2, 1))
    assert tensor.tolist() == [[2.0, 3.0], [4.0, 5.0]] and not tensor.is_set_to(source)
    tensor.set_(source)
    assert tensor.is_set_to(source)
    tensor.set_()
    assert tensor.shape == (0,)


def test_set_of_a_storage_on_another_device_is_refused(device):
    with pytest.raises(RuntimeError, match="storage"):
        torch.empty(0, device=device).set_(torch.empty(3).untyped_storage(), 0, (3,))


def test_factories_refuse_what_the_device_does_not_have(device):
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.empty(3, device=device, pin_memory=True)
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.empty(-1, device=device)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int32, torch.bool], ids=str)
def test_deterministic_fill_writes_what_the_cpu_writes(device, dtype):
    was = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        made = [torch.empty(5, dtype=dtype, device=d) for d in (device, "cpu")]
        strided = [torch.empty_strided((2, 3), (3, 1), dtype=dtype, device=d) for d in (device, "cpu")]
        grown = [torch.zeros(2, dtype=dtype, device=d).resize_(6) for d in (device, "cpu")]
    finally:
        torch.use_deterministic_algorithms(was)
    for ours, expected in (made, strided, grown):
        torch.testing.assert_close(ours.cpu(), expected, equal_nan=True, rtol=0, atol=0)


def test_zero_tensors_of_autograd_are_read_as_zeros(device):
    zeros = torch._efficientzerotensor((2, 3), device=device)
    assert zeros._is_zerotensor()
    assert torch.equal(torch.ones(2, 3, device=device).copy_(zeros).cpu(), torch.zeros(2, 3))
    assert torch.equal(zeros.clone().cpu(), torch.zeros(2, 3))


def test_views_share_memory(device):
    base = torch.zeros(4, 6, device=device)
    base.t()[1:3, ::2].fill_(1)
    base.view(2, 12)[0].unfold(0, 3, 3)[0, 0].fill_(2)
    reference = torch.zeros(4, 6)
    reference.t()[1:3, ::2].fill_(1)
    reference.view(2, 12)[0].unfold(0, 3, 3)[0, 0].fill_(2)
    assert torch.equal(base.cpu(), reference)
    complex_base = torch.zeros(3, dtype=torch.complex64, device=device)
    torch.view_as_real(complex_base)[:, 1].fill_(4)
    assert complex_base.tolist() == [4j, 4j, 4j]


def test_a_copy_between_overlapping_parts_is_refused_as_on_the_cpu():
    for device in ("cpu", "anvil"):
        x = torch.arange(4.0, device=device)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            x[1:].copy_(x[:-1])
        square = x.view(2, 2)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            square.copy_(square.t())
        x.copy_(x)
        assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [torch.float8_e8m0fnu, torch.complex32], ids=str)
def test_dtypes_without_kernels_are_stored_copied_and_converted(dtype):
    x = torch.tensor([1.0, 2.0, 4.0, 8.0]).to(dtype)
    back = torch.complex64 if dtype.is_complex else torch.float32
    ours = x.to("anvil")
    assert ours.dtype == dtype
    assert torch.equal(ours[::2].contiguous().cpu().to(back), x[::2].to(back))
    assert torch.equal(ours.to(back).cpu(), x.to(back))
    assert torch.equal(x.to(back).to("anvil").to(dtype).cpu().to(back), x.to(back))
