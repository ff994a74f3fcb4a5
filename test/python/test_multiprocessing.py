"""Tensors on the device go to other processes and come back as copies on the same device."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing.reduction import ForkingPickler

import pytest
import torch

# A program for `python -c` cannot be imported by the processes that it spawns: it is written to a file.
PROGRAM = """
import torch
import torch.multiprocessing as mp


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.tensor([float(index) ** 2], device="anvil")


def work(argument, incoming, outgoing):
    received = incoming.get(timeout=60)
    assert argument.device == received.device == torch.device("anvil:1"), (argument.device, received.device)
    outgoing.put(received * 2 + argument)
    parameter = incoming.get(timeout=60)
    assert type(parameter) is torch.nn.Parameter and parameter.requires_grad and parameter.device.type == "anvil"
    storage = incoming.get(timeout=60)
    outgoing.put([parameter.sum().item(), storage.device.type, storage.tolist()])
    incoming.get(timeout=60)  # what was put is read by now


def main():
    context = mp.get_context("spawn")
    there, back = context.Queue(), context.Queue()
    tensor = torch.arange(4.0, device="anvil:1").view(2, 2)
    process = context.Process(target=work, args=(tensor.t(), there, back))
    process.start()
    there.put(tensor)
    result = back.get(timeout=60)
    assert result.device == tensor.device and result.tolist() == (tensor * 2 + tensor.t()).tolist()
    there.put(torch.nn.Parameter(torch.ones(3, device="anvil")))
    there.put(torch.tensor([1, 2], dtype=torch.uint8, device="anvil").untyped_storage())
    assert back.get(timeout=60) == [3.0, "anvil", [1, 2]]
    there.put(None)
    process.join(60)
    assert process.exitcode == 0

    loader = torch.utils.data.DataLoader(Squares(), batch_size=3, num_workers=1, multiprocessing_context="spawn")
    batches = list(loader)
    assert all(batch.device.type == "anvil" for batch in batches)
    assert torch.cat(batches).flatten().tolist() == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    print("done")


if __name__ == "__main__":
    main()
"""


def test_tensors_travel_through_queues_arguments_and_loaders(other_device, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    # As a script: the processes that it spawns import it again, by its path.
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)
    assert result.stdout.splitlines()[-1:] == ["done"], result.stdout + result.stderr


def test_a_tensor_inside_a_graph_is_refused_as_upstream_does(device):
    leaf = torch.ones(2, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match="non-leaf"):
        ForkingPickler.dumps(leaf * 2)


def test_what_arrives_is_a_copy_with_the_layout_and_the_gradient_flag(device):
    sent = torch.arange(6.0, device=device).view(2, 3).t().requires_grad_()
    arrived = ForkingPickler.loads(ForkingPickler.dumps(sent))
    assert arrived.device == device
    assert arrived.stride() == sent.stride()
    assert arrived.requires_grad
    assert torch.equal(arrived, sent)
    assert arrived.data_ptr() != sent.data_ptr()


def test_tensors_on_the_cpu_stay_shared():
    sent = torch.ones(2)
    arrived = ForkingPickler.loads(ForkingPickler.dumps(sent))
    sent[0] = 5
    assert arrived.tolist() == [5, 1]
