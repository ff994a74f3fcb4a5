"""Device memory from Python: statistics, the cache, out of memory, pinned memory."""

from __future__ import annotations

import gc

import pytest
import torch

MiB = 1 << 20


@pytest.fixture(autouse=True)
def empty_cache():
    gc.collect()
    torch.anvil.synchronize()
    torch.anvil.empty_cache()
    torch.anvil.reset_peak_memory_stats()
    yield


def test_statistics_follow_allocations(device):
    before = torch.anvil.memory_allocated()
    tensor = torch.empty(8 * MiB, dtype=torch.uint8, device=device)
    assert torch.anvil.memory_allocated() == before + 8 * MiB
    assert torch.anvil.memory_reserved() >= torch.anvil.memory_allocated()
    del tensor
    assert torch.anvil.memory_allocated() == before
    assert torch.anvil.max_memory_allocated() == before + 8 * MiB
    torch.anvil.reset_peak_memory_stats()
    assert torch.anvil.max_memory_allocated() == before


def test_freed_memory_is_kept_and_used_again(device):
    tensor = torch.empty(8 * MiB, dtype=torch.uint8, device=device)
    address, reserved = tensor.data_ptr(), torch.anvil.memory_reserved()
    segments = torch.anvil.memory_stats()["segment.all.allocated"]
    del tensor
    assert torch.anvil.memory_reserved() == reserved
    again = torch.empty(8 * MiB, dtype=torch.uint8, device=device)
    assert again.data_ptr() == address
    assert torch.anvil.memory_stats()["segment.all.allocated"] == segments


def test_empty_cache_gives_memory_back_to_the_driver(device):
    free = torch.anvil.mem_get_info()[0]
    tensor = torch.empty(64 * MiB, dtype=torch.uint8, device=device)
    assert torch.anvil.mem_get_info()[0] <= free - 64 * MiB
    del tensor
    torch.anvil.empty_cache()
    assert torch.anvil.memory_reserved() == 0 or torch.anvil.memory_allocated() > 0
    assert torch.anvil.mem_get_info()[0] == free


def test_statistics_have_torch_cudas_keys(device):
    torch.empty(1, device=device)
    ours = set(torch.anvil.memory_stats())
    expected = {
        f"{kind}.{pool}.{metric}"
        for kind in (
            "allocation", "segment", "active", "inactive_split",
            "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes",
        )
        for pool in ("all", "small_pool", "large_pool")
        for metric in ("current", "peak", "allocated", "freed")
    }  # fmt: skip
    expected |= {"num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free", "num_sync_all_streams"}
    assert expected - ours == set()
    assert torch.anvil.memory_stats() == torch.accelerator.memory_stats()


def test_torch_accelerators_functions_agree(device):
    tensor = torch.empty(3 * MiB, dtype=torch.uint8, device=device)
    assert torch.accelerator.memory_allocated() == torch.anvil.memory_allocated() >= tensor.nbytes
    assert torch.accelerator.memory_reserved() == torch.anvil.memory_reserved()
    assert torch.accelerator.max_memory_allocated() == torch.anvil.max_memory_allocated()
    assert torch.accelerator.get_memory_info() == torch.anvil.mem_get_info()
    torch.accelerator.reset_peak_memory_stats()
    torch.accelerator.reset_accumulated_memory_stats()
    torch.accelerator.empty_cache()


def test_devices_are_counted_apart(device, other_device):
    before = torch.anvil.memory_allocated(device)
    tensor = torch.empty(MiB, dtype=torch.uint8, device=other_device)
    assert torch.anvil.memory_allocated(device) == before
    assert torch.anvil.memory_allocated(other_device) >= tensor.nbytes


def test_out_of_memory_says_how_much_and_can_be_recovered_from(device):
    free, total = torch.anvil.mem_get_info()
    before = torch.anvil.memory_stats()["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.empty(2 * total, dtype=torch.uint8, device=device)
    message = str(caught.value)
    assert f"{2 * total / 2**30:.2f} GiB" in message
    assert "free" in message
    assert "reserved" in message
    assert torch.anvil.memory_stats()["num_ooms"] == before + 1
    tensor = torch.ones(MiB, device=device)
    assert tensor.sum().item() == MiB
    assert torch.anvil.mem_get_info()[1] == total


def test_the_cache_is_freed_before_memory_runs_out(run_python):
    """Two blocks that do not fit together: the second allocation retries after the cache gave the first one back."""
    result = run_python(
        """
        import torch
        size = int(torch.anvil.mem_get_info()[1] * 0.7)
        del_me = torch.empty(size, dtype=torch.uint8, device="anvil")
        del del_me
        other = torch.empty(size + (64 << 20), dtype=torch.uint8, device="anvil")
        stats = torch.anvil.memory_stats()
        print(stats["num_alloc_retries"], stats["num_ooms"])
        """,
        ANVIL_SIMULATOR_MEMORY=str(1 << 30),
    )
    assert result.stdout == "1 0\n", result.stderr


def test_summary_is_readable(device):
    tensor = torch.empty(10 * MiB, dtype=torch.uint8, device=device)
    summary = torch.anvil.memory_summary()
    assert "anvil:0" in summary
    assert "Allocated memory" in summary
    assert "10.0 MiB" in summary
    assert len(torch.anvil.memory_summary(abbreviated=True)) < len(summary)
    del tensor


def test_pinned_memory_is_pinned_and_copied_asynchronously(device):
    host = torch.arange(1000.0).pin_memory()
    assert host.is_pinned()
    assert not torch.arange(3).is_pinned()
    copy = host.to(device, non_blocking=True)
    torch.anvil.synchronize()
    assert torch.equal(copy.cpu(), host)
    back = torch.empty(1000, pin_memory=True)
    back.copy_(copy, non_blocking=True)
    torch.anvil.synchronize()
    assert torch.equal(back, host)


def test_pinned_memory_is_kept_and_used_again():
    torch.anvil.reset_peak_host_memory_stats()
    host = torch.empty(MiB, dtype=torch.uint8, pin_memory=True)
    address = host.data_ptr()
    assert torch.anvil.host_memory_stats()["active_bytes.current"] >= MiB
    del host
    again = torch.empty(MiB, dtype=torch.uint8, pin_memory=True)
    assert again.data_ptr() == address
    torch.anvil.reset_accumulated_host_memory_stats()


def test_memory_recorded_on_a_stream_is_not_reused_before_it_passed(device):
    """record_stream: the block stays out of the pool while the side stream may read it."""
    side = torch.anvil.Stream()
    for _ in range(20):
        tensor = torch.full((1 << 16,), 3.0, device=device)
        side.wait_stream(torch.anvil.current_stream())
        with torch.anvil.stream(side):
            result = tensor * 2
        tensor.record_stream(side)
        del tensor
        torch.full((1 << 16,), 100.0, device=device)  # would be handed the same block at once
        side.synchronize()
        assert result.sum().item() == 6 * (1 << 16)


def test_storage_grows_and_keeps_its_values(device):
    tensor = torch.arange(4.0, device=device)
    storage = tensor.untyped_storage()
    storage.resize_(64)
    assert storage.nbytes() == 64
    assert tensor.tolist() == [0, 1, 2, 3]
    storage.resize_(0)
    assert storage.nbytes() == 0
    tensor = torch.arange(3.0, device=device).resize_(5)
    assert tensor[:3].tolist() == [0, 1, 2]
