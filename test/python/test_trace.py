"""ANVIL_TRACE: each CUDA call with the operator that made it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import torch
x = torch.ones(1024, device="anvil")
y = (x + x).sum()
x.cpu()
torch.accelerator.synchronize()
print(y.item())
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )


def test_calls_carry_the_operator_bytes_and_kernel(tmp_path):
    path = tmp_path / "trace.json"
    result = run(PROGRAM, ANVIL_TRACE=str(path))
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "2048.0"

    # The array may end early: a viewer accepts that, json does not.
    events = json.loads(path.read_text().rstrip().rstrip(",") + "]")
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    launches = [event["args"] for event in events if event["name"] == "cudaLaunchKernel"]
    assert {"aten::ones", "aten::add.Tensor", "aten::sum"} <= {launch["operator"] for launch in launches}
    assert all(launch["kernel"] for launch in launches)
    assert all(launch["result"] == "cudaSuccess" for launch in launches)
    copies = [event["args"] for event in events if event["name"] == "cudaMemcpyAsync"]
    assert any(copy["bytes"] == 4096 and copy["inner_operator"].startswith("aten::_") for copy in copies)
    assert [event["args"]["bytes"] for event in events if event["name"] == "cudaMalloc"] == [2 * 1024 * 1024]


def test_a_file_that_cannot_be_written_is_an_error_of_the_first_use(tmp_path):
    path = tmp_path / "missing" / "trace.json"
    result = run("import torch; print('imported'); torch.ones(1, device='anvil')", ANVIL_TRACE=str(path))
    assert "imported" in result.stdout
    assert result.returncode == 1
    assert f"ANVIL_TRACE={path} cannot be written" in result.stderr
