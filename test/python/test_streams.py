"""Streams and events from Python: torch.anvil's own classes, and torch.Stream and torch.Event."""

from __future__ import annotations

import threading

import pytest
import torch


def test_the_default_stream_is_the_legacy_one(device):
    stream = torch.anvil.default_stream(device)
    assert stream.cuda_stream == 0
    assert torch.anvil.current_stream() == stream
    assert stream.priority == 0


def test_stream_context_selects_and_restores(device):
    stream = torch.anvil.Stream()
    before = torch.anvil.current_stream()
    context = torch.anvil.stream(stream)
    with context:
        assert torch.anvil.current_stream() == stream
        with context:  # entered again
            assert torch.anvil.current_stream() == stream
        assert torch.anvil.current_stream() == stream
    assert torch.anvil.current_stream() == before


def test_stream_context_of_another_device_restores_both(other_device):
    stream = torch.anvil.Stream(device=other_device)
    there = torch.anvil.current_stream(other_device)
    with torch.anvil.stream(stream):
        assert torch.anvil.current_device() == 1
        assert torch.anvil.current_stream() == stream
    assert torch.anvil.current_device() == 0
    assert torch.anvil.current_stream(other_device) == there


def test_stream_context_of_none_changes_nothing():
    before = torch.anvil.current_stream()
    with torch.anvil.stream(None):
        assert torch.anvil.current_stream() == before
    torch.anvil.set_stream(None)
    assert torch.anvil.current_stream() == before


def test_streams_are_current_per_thread():
    stream = torch.anvil.Stream()
    seen = []
    with torch.anvil.stream(stream):
        thread = threading.Thread(target=lambda: seen.append(torch.anvil.current_stream()))
        thread.start()
        thread.join()
    assert seen == [torch.anvil.default_stream()]


def test_priorities_are_in_the_range_and_clamped():
    lowest, highest = torch.anvil.Stream.priority_range()
    assert lowest == 0
    assert highest < 0
    assert torch.anvil.Stream(priority=highest).priority == highest
    assert torch.anvil.Stream(priority=highest - 100).priority == highest
    assert torch.anvil.Stream().priority == 0
    assert torch.Stream("anvil", priority=-1).query()


def test_torch_stream_and_ours_are_the_same_stream(device):
    ours = torch.anvil.Stream()
    theirs = torch.Stream(stream_id=ours.stream_id, device_index=ours.device_index, device_type=ours.device_type)
    assert ours == theirs
    assert theirs.native_handle == ours.cuda_stream
    assert torch.anvil.Stream(stream_id=ours.stream_id, device_index=0, device_type=ours.device_type) == ours
    with theirs:
        assert torch.anvil.current_stream() == ours


def test_an_external_stream_is_used_as_it_is():
    owner = torch.anvil.Stream()
    external = torch.anvil.ExternalStream(owner.cuda_stream)
    assert external.cuda_stream == owner.cuda_stream
    with torch.anvil.stream(external):
        tensor = torch.ones(1000, device="anvil") * 2
    external.synchronize()
    assert tensor.sum().item() == 2000
    assert torch.anvil.get_stream_from_external(owner.cuda_stream, "anvil:0") == external


def test_wait_stream_orders_work_of_two_streams(device):
    side = torch.anvil.Stream()
    for _ in range(20):
        source = torch.ones(1 << 16, device=device)
        side.wait_stream(torch.anvil.current_stream())
        with torch.anvil.stream(side):
            doubled = source * 2
        torch.anvil.current_stream().wait_stream(side)
        doubled.record_stream(torch.anvil.current_stream())
        assert (doubled + 1).sum().item() == 3 * (1 << 16)


def test_wait_event_orders_work_across_devices(device, other_device):
    source = torch.arange(1 << 16, dtype=torch.float32, device=device)
    ready = torch.anvil.Event()
    ready.record()
    stream = torch.anvil.Stream(device=other_device)
    stream.wait_event(ready)
    with torch.anvil.stream(stream):
        copy = source.to(other_device, non_blocking=True) + 1
    stream.synchronize()
    assert torch.equal(copy.cpu(), source.cpu() + 1)


def test_an_event_is_done_after_its_stream():
    stream = torch.anvil.Stream()
    event = torch.anvil.Event()
    assert event.query()  # never recorded: cudaEventQuery, CUDA runtime API, event management
    with torch.anvil.stream(stream):
        torch.ones(1 << 20, device="anvil").sin().sum()
        event.record()
    event.synchronize()
    assert event.query()
    assert stream.query()


def test_record_event_gives_an_event_of_the_stream():
    stream = torch.anvil.Stream()
    event = stream.record_event()
    assert isinstance(event, torch.anvil.Event)
    assert stream.record_event(event) is event
    event.synchronize()


def test_time_between_events_is_not_negative():
    start, end = (torch.anvil.Event(enable_timing=True) for _ in range(2))
    start.record()
    torch.ones(1 << 20, device="anvil").exp().sum()
    end.record()
    torch.anvil.synchronize()
    assert start.elapsed_time(end) > 0


def test_time_needs_events_that_measure_it():
    start, end = torch.anvil.Event(), torch.anvil.Event(enable_timing=True)
    start.record()
    end.record()
    torch.anvil.synchronize()
    with pytest.raises((RuntimeError, ValueError), match="timing"):
        start.elapsed_time(end)
    with pytest.raises(TypeError):
        end.elapsed_time(torch.anvil.Stream())


def test_synchronize_waits_for_every_stream_of_the_device(device):
    streams = [torch.anvil.Stream() for _ in range(4)]
    for stream in streams:
        with torch.anvil.stream(stream):
            torch.ones(1 << 18, device=device).exp().sum()
    torch.anvil.synchronize(device)
    assert all(stream.query() for stream in streams)


def test_threads_share_devices_without_mixing_results(device):
    """More threads than cores, each with its own stream; every result is its own."""
    results: dict[int, bool] = {}

    def work(number: int) -> None:
        with torch.anvil.stream(torch.anvil.Stream()):
            tensor = torch.full((4096,), float(number), device=device)
            for _ in range(20):
                tensor = tensor + 1
            results[number] = bool((tensor == number + 20).all().item())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(8), True)


def test_what_is_no_stream_of_the_device_is_named(device):
    with pytest.raises(TypeError, match="Expected a torch.anvil.Stream or None, but got: 'x'"):
        torch.anvil.set_stream("x")
    with pytest.raises(TypeError, match="Expected a torch.anvil.Stream"):
        torch.anvil.stream("x")
    with pytest.raises(ValueError, match="one of cpu"):
        torch.anvil.set_stream(torch.Stream(stream_id=0, device_index=0, device_type=0))
    with pytest.raises(ValueError, match=f"index {2**40} is out of range"):
        torch.anvil.current_stream(2**40)
