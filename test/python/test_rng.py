"""Random numbers: CUDA's for the same seed, and the state's functions."""

from __future__ import annotations

import struct

import pytest
import torch


def test_numbers_are_those_of_every_cuda_device(device):
    """Philox4x32-10 with key = seed and counter = (offset, thread): what torch.manual_seed(0); torch.rand(5) gives on CUDA."""
    torch.manual_seed(0)
    expected = torch.tensor([0.3990, 0.5167, 0.0249, 0.9401, 0.9459])
    torch.testing.assert_close(torch.rand(5, device=device).cpu(), expected, rtol=0, atol=5e-5)  # four printed digits


def test_manual_seed_seeds_every_device(device, other_device):
    torch.manual_seed(7)
    first = torch.rand(100, device=device)
    assert torch.equal(first.cpu(), torch.rand(100, device=other_device).cpu())
    assert not torch.equal(first.cpu(), torch.rand(100, device=device).cpu())
    torch.anvil.manual_seed_all(7)
    assert torch.equal(first.cpu(), torch.rand(100, device=device).cpu())


def test_manual_seed_of_the_device_leaves_the_other_alone(other_device):
    torch.manual_seed(1)
    with torch.anvil.device(1):
        torch.anvil.manual_seed(2)
        assert torch.anvil.initial_seed() == 2
    assert torch.anvil.initial_seed() == 1


def test_the_state_is_seed_and_offset(device):
    """16 bytes, as CUDA's: two little-endian 64-bit integers."""
    torch.manual_seed(0x1234)
    seed, offset = struct.unpack("<qq", bytes(torch.anvil.get_rng_state().tolist()))
    assert (seed, offset) == (0x1234, 0)
    torch.rand(1, device=device)
    seed, offset = struct.unpack("<qq", bytes(torch.anvil.get_rng_state().tolist()))
    assert (seed, offset) == (0x1234, 4)  # one Philox call of four numbers


def test_setting_the_state_repeats_the_numbers(device):
    state = torch.anvil.get_rng_state(device)
    first = torch.rand(100, device=device)
    torch.anvil.set_rng_state(state, "privateuseone:0")
    assert torch.equal(first.cpu(), torch.rand(100, device=device).cpu())


def test_states_of_all_devices(other_device):
    torch.manual_seed(3)
    states = torch.anvil.get_rng_state_all()
    assert len(states) == torch.anvil.device_count()
    first = [torch.rand(10, device=f"anvil:{index}").cpu() for index in range(2)]
    torch.anvil.set_rng_state_all(states)
    assert all(torch.equal(first[index], torch.rand(10, device=f"anvil:{index}").cpu()) for index in range(2))


def test_seed_and_seed_all_are_not_deterministic(device):
    torch.anvil.seed()
    first = torch.anvil.initial_seed()
    torch.anvil.seed_all()
    assert torch.anvil.initial_seed() != first


def test_a_generator_of_the_device(device, other_device):
    generator = torch.Generator(device="privateuseone:1").manual_seed(5)
    assert generator.device == other_device
    first = torch.rand(10, device=other_device, generator=generator)
    again = torch.Generator(device="anvil:1").manual_seed(5)
    assert torch.equal(first.cpu(), torch.rand(10, device=other_device, generator=again).cpu())
    twin = torch.Generator(device="anvil:1")
    twin.set_state(generator.get_state())
    expected = torch.rand(10, device=other_device, generator=generator)
    assert torch.equal(expected.cpu(), torch.rand(10, device=other_device, generator=twin).cpu())


def test_a_generator_of_another_device_is_refused(device):
    with pytest.raises(RuntimeError, match="[Gg]enerator"):
        torch.rand(3, device=device, generator=torch.Generator())


def test_fork_rng_restores_the_devices_state(device):
    state = torch.anvil.get_rng_state(device)
    with torch.random.fork_rng(devices=[0]):
        torch.manual_seed(99)
        torch.rand(10, device=device)
    assert torch.equal(torch.anvil.get_rng_state(device), state)


def test_seeds_before_the_first_use_are_kept_until_then(run_python):
    result = run_python(
        """
        import torch
        for seed in range(1000):
            torch.manual_seed(seed)  # each undoes the one before
        from torch_anvil.anvil import _lazy
        print(torch.anvil.is_initialized(), len(_lazy._queued_calls), torch.anvil.initial_seed())
        """
    )
    assert result.stdout == "False 1 999\n", result.stderr


def test_checkpointing_repeats_dropout(device):
    torch.manual_seed(0)
    dropout = torch.nn.Dropout(0.5)
    inputs = torch.ones(1000, device=device, requires_grad=True)
    output = torch.utils.checkpoint.checkpoint(dropout, inputs, use_reentrant=False)
    output.sum().backward()
    assert torch.equal(inputs.grad.cpu(), output.detach().cpu())
