"""Devices: names, count, the current one of a thread, properties, torch.accelerator."""

from __future__ import annotations

import threading

import pytest
import torch

from torch_anvil.anvil._utils import _get_device_index


def test_there_are_two_devices_by_default(run_python):
    result = run_python("import torch; print(torch.anvil.device_count())", ANVIL_DRIVER="simulator")
    assert result.stdout == "2\n", result.stderr


def test_current_device_is_set_and_restored(other_device):
    assert torch.anvil.current_device() == 0
    torch.anvil.set_device(other_device)
    assert torch.anvil.current_device() == 1
    assert torch.empty(1, device="anvil").device == other_device
    torch.anvil.set_device(-1)  # changes nothing
    assert torch.anvil.current_device() == 1
    torch.anvil.set_device(0)
    assert torch.anvil.current_device() == 0


def test_device_context_nests_and_is_entered_again(other_device):
    context = torch.anvil.device(1)
    with context:
        assert torch.anvil.current_device() == 1
        with torch.anvil.device(0):
            assert torch.anvil.current_device() == 0
            with context:
                assert torch.anvil.current_device() == 1
            assert torch.anvil.current_device() == 0
        assert torch.anvil.current_device() == 1
    assert torch.anvil.current_device() == 0


def test_device_context_restores_after_an_exception(other_device):
    with pytest.raises(ZeroDivisionError), torch.anvil.device("anvil:1"):
        1 / 0  # noqa: B018
    assert torch.anvil.current_device() == 0


@pytest.mark.parametrize("nothing", [None, -1])
def test_device_context_of_nothing_changes_nothing(nothing):
    with torch.anvil.device(nothing):
        assert torch.anvil.current_device() == 0


def test_device_of_selects_the_tensors_device(other_device):
    with torch.anvil.device_of(torch.empty(1, device=other_device)):
        assert torch.anvil.current_device() == 1
    with torch.anvil.device_of(torch.empty(1)):
        assert torch.anvil.current_device() == 0


def test_each_thread_has_its_own_current_device(other_device):
    seen = []
    torch.anvil.set_device(1)
    thread = threading.Thread(target=lambda: seen.append(torch.anvil.current_device()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert torch.anvil.current_device() == 1


def test_an_index_out_of_range_is_named_with_those_that_exist():
    count = torch.anvil.device_count()
    for use in (
        lambda: torch.anvil.set_device(count),
        lambda: torch.empty(1, device=f"anvil:{count}"),
        lambda: torch.anvil.get_device_properties(count),
        lambda: torch.anvil.synchronize(count),
        lambda: torch.anvil.Stream(device=count),
    ):
        with pytest.raises((RuntimeError, IndexError), match=rf"\b{count}\b"):
            use()
    assert torch.empty(1, device="anvil:0").device.index == 0


@pytest.mark.parametrize("name", ["privateuseone", "anvil"])
def test_both_names_mean_the_device(name):
    assert torch.device(name) == torch.device("anvil")
    assert torch.device(f"{name}:1") == torch.device("anvil", 1)
    assert torch.empty(1).to(f"{name}:0").device == torch.device("anvil:0")
    assert str(torch.device(f"{name}:1")) == "anvil:1"


def test_device_arguments_become_indices():
    assert _get_device_index("anvil:1") == 1
    assert _get_device_index(torch.device("privateuseone:1")) == 1
    assert _get_device_index(1) == 1
    assert _get_device_index(None, optional=True) == torch.anvil.current_device()
    assert _get_device_index("cpu", allow_cpu=True) == -1
    with pytest.raises(ValueError, match="cuda"):
        _get_device_index("cuda:0")
    with pytest.raises(ValueError, match="index"):
        _get_device_index("anvil")


def test_default_device_context_makes_tensors_on_the_device():
    with torch.device("privateuseone"):
        assert torch.zeros(2).device == torch.device("anvil:0")
        assert torch.nn.Linear(2, 2).weight.device == torch.device("anvil:0")
    assert torch.zeros(2).device == torch.device("cpu")


def test_generated_methods(device):
    tensor = torch.arange(3).anvil()
    assert tensor.is_anvil
    assert not tensor.cpu().is_anvil
    assert torch.nn.Linear(2, 2).anvil().weight.device == device
    assert tensor.untyped_storage().is_anvil
    assert torch.arange(3).untyped_storage().anvil().device == device
    assert torch.nn.utils.rnn.pack_sequence([torch.ones(2, 1)]).anvil().is_anvil


def test_properties_are_those_of_the_runtime(driver):
    properties = torch.anvil.get_device_properties(0)
    assert torch.anvil.get_device_name(0) == properties.name
    assert torch.anvil.get_device_capability("anvil:0") == (properties.major, properties.minor)
    assert properties.total_memory == torch.anvil.mem_get_info(0)[1]
    assert properties.warp_size == 32
    assert properties.multi_processor_count > 0
    if driver == "simulator":
        # The default profile, an H100 SXM: CUDA C++ Programming Guide, table of compute capabilities.
        assert (properties.major, properties.minor) == (9, 0)
        assert properties.multi_processor_count == 132
        assert properties.max_threads_per_multi_processor == 2048


def test_peer_access_needs_two_devices(other_device):
    assert not torch.anvil.can_device_access_peer(0, 0)
    assert isinstance(torch.anvil.can_device_access_peer(0, 1), bool)


def test_copies_between_devices_keep_the_values(other_device):
    source = torch.arange(1000, dtype=torch.float32, device="anvil:0")
    copy = source.to(other_device)
    assert copy.device == other_device
    assert torch.equal(copy.cpu(), source.cpu())


def test_torch_accelerator_is_this_device(other_device):
    assert torch.accelerator.current_accelerator() == torch.device("anvil")
    assert torch.accelerator.is_available()
    assert torch.accelerator.device_count() == torch.anvil.device_count()
    assert torch.accelerator.current_device_index() == 0
    with torch.accelerator.device_index(1):
        assert torch.anvil.current_device() == 1
    torch.accelerator.set_device_index(1)
    assert torch.anvil.current_device() == 1
    torch.accelerator.synchronize()
    stream = torch.Stream("anvil:0")
    torch.accelerator.set_stream(stream)
    assert torch.accelerator.current_stream("anvil:0") == stream
    assert torch.float32 in torch.accelerator.get_device_capability("anvil:0")["supported_dtypes"]


def test_functions_that_torch_looks_up_by_name():
    assert torch._utils._get_available_device_type() in ("anvil", "cuda")
    assert torch._utils._is_privateuse1_backend_available()
    assert torch.anvil.is_bf16_supported()
    assert torch.bfloat16 in torch.anvil.get_amp_supported_dtype()
    assert torch.anvil._get_device(1) == torch.device("anvil:1")
    assert torch.anvil._exchange_device(-1) == -1
    assert torch.anvil._maybe_exchange_device(-1) == -1


def test_every_public_name_exists_and_is_documented():
    for name in torch.anvil.__all__:
        assert getattr(torch.anvil, name).__doc__, name


def test_names_that_torch_cuda_has_too_take_the_same_arguments():
    """What torch.cuda's functions accept by keyword, ours accept."""
    import inspect

    for name in torch.anvil.__all__:
        theirs, ours = getattr(torch.cuda, name, None), getattr(torch.anvil, name)
        if inspect.isfunction(theirs) and inspect.isfunction(ours):
            missing = set(inspect.signature(theirs).parameters) - set(inspect.signature(ours).parameters)
            assert not missing, f"{name} lacks {missing}"
