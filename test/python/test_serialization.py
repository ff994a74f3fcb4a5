"""torch.save and torch.load, by either name and both ways."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
import torch


def saved(value) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return buffer


def test_a_tensor_comes_back_to_its_device(other_device):
    tensor = torch.arange(6.0, device=other_device).reshape(2, 3).t()
    loaded = torch.load(saved(tensor))
    assert loaded.device == other_device
    assert loaded.stride() == tensor.stride()
    assert torch.equal(loaded.cpu(), tensor.cpu())


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("privateuseone", "anvil:0"),
        ("anvil", "anvil:0"),
        ("privateuseone:1", "anvil:1"),
        ("anvil:1", "anvil:1"),
        (torch.device("privateuseone"), "anvil:0"),
        (torch.device("anvil:1"), "anvil:1"),
        ("cpu", "cpu"),
        ({"anvil:0": "anvil:1"}, "anvil:1"),
        ({"anvil:0": "privateuseone:1"}, "anvil:1"),
        ({"anvil:0": "cpu"}, "cpu"),
        (lambda storage, tag: storage.to(device="anvil:1"), "anvil:1"),
    ],
    ids=lambda value: "function" if callable(value) else str(value),
)
def test_map_location_of_a_tensor_of_the_device(other_device, location, expected):
    tensor = torch.arange(5, device="anvil:0")
    loaded = torch.load(saved(tensor), map_location=location)
    assert loaded.device == torch.device(expected)
    assert loaded.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("location", ["privateuseone", "anvil", "privateuseone:0", torch.device("anvil")], ids=str)
def test_map_location_of_a_tensor_of_the_cpu(location):
    loaded = torch.load(saved(torch.arange(5)), map_location=location)
    assert loaded.device == torch.device("anvil:0")
    assert loaded.tolist() == [0, 1, 2, 3, 4]


def test_a_file_is_tagged_with_the_devices_name(device):
    assert torch.serialization.location_tag(torch.empty(1, device=device).untyped_storage()) == "anvil:0"


def test_a_file_tagged_with_the_other_name_loads():
    """As written by another PrivateUse1 backend that has no name, or by Anvil before it had one."""
    buffer = saved(torch.arange(3, device="anvil:0")).getvalue()
    assert buffer.count(b"anvil:0") == 1
    # As if the tag in it were the other name.
    seen = []

    def restore(storage, tag):
        seen.append(tag)
        return torch.serialization.default_restore_location(storage, tag.replace("anvil", "privateuseone"))

    loaded = torch.load(io.BytesIO(buffer), map_location=restore)
    assert seen == ["anvil:0"]
    assert loaded.device == torch.device("anvil:0")


@pytest.mark.parametrize("name", ["anvil", "privateuseone"])
def test_a_device_that_is_not_there_is_an_error_that_helps(name):
    count = torch.anvil.device_count()
    with pytest.raises(RuntimeError, match=rf"device {count}.*device_count\(\) is {count}.*map_location"):
        torch.load(saved(torch.arange(3, device="anvil:0")), map_location=f"{name}:{count}")


def test_a_file_saved_on_a_device_that_is_not_there(run_python, tmp_path):
    program = "import torch, sys; torch.save(torch.arange(3, device='anvil:2'), sys.argv[1])"
    path = str(tmp_path / "three.pt")
    result = run_python(program, path, ANVIL_DRIVER="simulator", ANVIL_SIMULATOR_DEVICES="3")
    assert result.returncode == 0, result.stderr
    program = "import torch, sys; torch.load(sys.argv[1])"
    result = run_python(program, path, ANVIL_DRIVER="simulator", ANVIL_SIMULATOR_DEVICES="2")
    assert "device 2" in result.stderr.splitlines()[-1]
    assert "map_location" in result.stderr.splitlines()[-1]
    result = run_python(
        "import torch, sys; print(torch.load(sys.argv[1], map_location='privateuseone:1'))", path,
        ANVIL_DRIVER="simulator", ANVIL_SIMULATOR_DEVICES="2",
    )  # fmt: skip
    assert result.stdout == "tensor([0, 1, 2], device='anvil:1')\n", result.stderr


def test_models_and_optimizers_go_both_ways(device):
    def parts(where):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2).to(where)
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.ones(1, 3, device=where)).sum().backward()
        optimizer.step()
        return model, optimizer

    for source, target in ((device, "cpu"), ("cpu", device)):
        model, optimizer = parts(source)
        state = torch.load(saved({"model": model.state_dict(), "optimizer": optimizer.state_dict()}), map_location=target)
        other, other_optimizer = parts(target)
        other.load_state_dict(state["model"])
        other_optimizer.load_state_dict(state["optimizer"])
        assert torch.equal(other.weight.cpu(), model.weight.cpu())
        other_optimizer.step()


def test_shared_storages_stay_shared(device):
    base = torch.arange(6, device=device)
    first, second = torch.load(saved((base[:3], base[3:])))
    first.add_(10)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
    assert second.tolist() == [3, 4, 5]


def test_deepcopy_and_pickle_stay_on_the_device(device):
    tensor = torch.arange(3, device=device)
    for twin in (copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert twin.device == device
        assert twin.tolist() == [0, 1, 2]
        assert twin.data_ptr() != tensor.data_ptr()


def test_the_legacy_format_loads(device):
    buffer = io.BytesIO()
    torch.save(torch.arange(3, device=device), buffer, _use_new_zipfile_serialization=False)
    buffer.seek(0)
    loaded = torch.load(buffer)
    assert loaded.device == device
    assert loaded.tolist() == [0, 1, 2]
