"""Stock ``torch.cuda`` on the simulator: ``python -m torch_anvil.stock``. Each process imports torch, so there are few."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap

import pytest
import torch

pytestmark = pytest.mark.skipif(
    torch.version.cuda is None or not torch.version.cuda.startswith("13."),
    reason="the installed torch was not built for CUDA 13, so there is no stock torch.cuda to run",
)


def run(code: str, *options: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, "-m", "torch_anvil.stock", *options, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert not check or result.returncode == 0, result.stderr
    return result


def answers(code: str, *options: str, **environment: str) -> dict:
    """What the program put into ``answer``."""
    program = "answer = {}\n" + textwrap.dedent(code) + "\nimport json; print('answer', json.dumps(answer))"
    result = run(program, *options, **environment)
    lines = [line for line in result.stdout.splitlines() if line.startswith("answer ")]
    return {**json.loads(lines[-1].removeprefix("answer ")), "stderr": result.stderr}


@pytest.fixture(scope="module")
def basics() -> dict:
    """One process for all that needs no kernel."""
    return answers(
        """
        import os, subprocess, sys
        import torch
        answer["devices"] = torch.cuda.device_count()
        answer["name"] = torch.cuda.get_device_name()
        answer["capability"] = torch.cuda.get_device_capability()
        answer["backends"] = hasattr(torch, "anvil")
        answer["accelerator"] = str(torch.accelerator.current_accelerator())
        answer["real"] = any("libcudart.so" in line for line in open("/proc/self/maps"))
        child = "print(any('anvil_stock' in line for line in open('/proc/self/maps')))"
        answer["child"] = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout
        answer["preload"] = os.environ.get("LD_PRELOAD")

        host = torch.arange(1000.0)
        device = host.to("cuda")
        answer["copies"] = torch.equal(device.cpu(), host) and torch.equal(device.to("cuda:1").cpu(), host)
        answer["allocated"] = torch.cuda.memory_allocated()
        answer["reserved"] = torch.cuda.memory_reserved()
        pinned = host.pin_memory()
        answer["pinned"] = [host.is_pinned(), pinned.is_pinned()]

        side = torch.cuda.Stream()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(side):
            start.record()
            back = torch.empty(1000, pin_memory=True)
            back.copy_(device, non_blocking=True)
            device.record_stream(side)
            end.record()
        end.synchronize()
        answer["stream"] = [torch.equal(back, host), side.query(), start.elapsed_time(end) >= 0]

        torch.cuda.memory._record_memory_history()
        block = torch.empty(1 << 22, dtype=torch.uint8, device="cuda")
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        answer["segments"] = [s["total_size"] for s in snapshot["segments"]]
        answer["trace"] = [event["action"] for event in snapshot["device_traces"][0]]
        del block
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        answer["after_empty_cache"] = torch.cuda.memory_reserved()

        try:
            device + 1
        except torch.AcceleratorError as error:
            answer["kernel"] = str(error).splitlines()[0]
        answer["still_works"] = torch.equal(device.cpu(), host)
        try:
            torch.empty(1 << 50, device="cuda")
        except torch.OutOfMemoryError as error:
            answer["out_of_memory"] = str(error)
        """,
        ANVIL_SIMULATOR_DEVICES="2",
    )


def test_stock_finds_the_simulated_devices(basics):
    assert basics["devices"] == 2
    assert basics["name"] == "NVIDIA H100 80GB HBM3 (simulated)"
    assert basics["capability"] == [9, 0]


def test_the_process_has_stock_torch_alone(basics):
    assert basics["backends"] is False
    assert basics["accelerator"] == "cuda"
    assert basics["real"] is False, "NVIDIA's libcudart was loaded too"


def test_child_processes_have_no_stand_ins(basics):
    assert basics["child"] == "False\n"
    assert basics["preload"] is None


def test_copies_between_host_and_devices(basics):
    assert basics["copies"]


def test_the_caching_allocator_has_stocks_sizes(basics):
    assert basics["allocated"] == 4096
    assert basics["reserved"] == 2 << 20
    assert (4 << 20) in basics["segments"] or (20 << 20) in basics["segments"]
    assert basics["trace"] == ["segment_alloc", "alloc"]
    assert basics["after_empty_cache"] == 2 << 20


def test_pinned_memory(basics):
    assert basics["pinned"] == [False, True]


def test_streams_and_events(basics):
    assert basics["stream"] == [True, True, True]


def test_launching_a_kernel_is_an_error_that_names_it(basics):
    assert "invalid device function" in basics["kernel"]
    assert "anvil simulator: kernel 'void at::native::" in basics["stderr"]
    assert "has only device code" in basics["stderr"]
    assert basics["still_works"]


def test_out_of_memory_is_stocks_error(basics):
    assert "CUDA out of memory" in basics["out_of_memory"]


def test_kernels_are_counted(tmp_path):
    """A training step of elementwise operators: every launch is counted and none is run."""
    counts = tmp_path / "counts.txt"
    answer = answers(
        """
        import torch, torch_anvil_stock
        torch.manual_seed(0)
        x = torch.ones(64, 64, device="cuda")
        weight = torch.nn.Parameter(torch.ones(64, device="cuda"))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        before = sum(torch_anvil_stock.kernel_counts().values())
        loss = (x * weight).relu().sum()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        counts = torch_anvil_stock.kernel_counts()
        answer["launches"] = sum(counts.values()) - before
        answer["names"] = [name for name in counts if "at::native" in name]
        """,
        "--kernels=count",
        f"--counts={counts}",
    )
    # mul, relu, sum; ones_like, threshold_backward, mul and sum of the gradient; the foreach step
    assert answer["launches"] == 8
    assert any("reduce_kernel" in name for name in answer["names"])
    first, *lines = counts.read_text().splitlines()
    assert first.endswith("kernels counted, none run")
    assert int(first.split()[0]) == sum(int(line.split()[0]) for line in lines)


@pytest.fixture(scope="module")
def graphs() -> dict:
    """Copies in a graph are real; kernels are counted at each replay."""
    return answers(
        """
        import torch, torch_anvil_stock
        source, target = torch.zeros(8, device="cuda"), torch.zeros(8, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            inside = source * 2
            target.copy_(source)
        counted = lambda: sum(n for name, n in torch_anvil_stock.kernel_counts().items() if "MulFunctor" in name)
        answer["captured"] = counted()
        results = []
        for start in (1, 5):
            source.copy_(torch.arange(start, start + 8.0))
            graph.replay()
            results.append(target.tolist())
        answer["results"] = results
        answer["replayed"] = counted()
        answer["pool"] = sum(s["segment_pool_id"] == graph.pool() for s in torch.cuda.memory._snapshot()["segments"])

        invalid = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(invalid):
                torch.cuda.synchronize()
        except torch.AcceleratorError as error:
            answer["invalid"] = [str(text).splitlines()[0] for text in (error.__context__, error)]
        answer["still_works"] = torch.arange(3).cuda().tolist()
        """,
        "--kernels=count",
    )


def test_graphs_are_captured_and_replayed(graphs):
    assert graphs["captured"] == 0
    assert graphs["replayed"] == 2
    assert graphs["results"] == [[float(i) for i in range(1, 9)], [float(i) for i in range(5, 13)]]
    assert graphs["pool"] == 1


def test_what_a_capture_forbids_is_stocks_error(graphs):
    first, second = graphs["invalid"]
    assert first == "CUDA error: operation not permitted when stream is capturing"
    assert second == "CUDA error: operation failed due to a previous error during capture"
    assert graphs["still_works"] == [0, 1, 2]


@pytest.fixture(scope="module")
def expandable() -> dict:
    return answers(
        """
        import torch
        small = torch.empty(1, device="cuda")
        grown = [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(3)]
        host = torch.arange(40 << 20, dtype=torch.int32).to(torch.uint8)
        across = host.to("cuda")
        answer["copies"] = torch.equal(across.cpu(), host)
        snapshot = torch.cuda.memory._snapshot()
        answer["expandable"] = [s["is_expandable"] for s in snapshot["segments"]]
        answer["segments"] = len(snapshot["segments"])
        free_before, total = torch.cuda.mem_get_info()
        del grown, across
        torch.cuda.empty_cache()
        answer["given_back"] = torch.cuda.mem_get_info()[0] - free_before
        answer["reserved"] = torch.cuda.memory_reserved()

        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            inside = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
        answer["pool"] = [s["total_size"] for s in pool.snapshot()]
        del inside
        """,
        PYTORCH_ALLOC_CONF="expandable_segments:True",
    )


def test_expandable_segments_grow_and_shrink(expandable):
    assert expandable["copies"]
    assert all(expandable["expandable"])
    assert expandable["segments"] == 2, "one of each size"
    assert expandable["given_back"] >= 120 << 20
    assert expandable["reserved"] == 2 << 20


def test_memory_pools(expandable):
    assert len(expandable["pool"]) == 1


def test_memory_and_events_cross_processes():
    """torch.multiprocessing shares device memory by cudaIpc; the spawned process is a stock process too."""
    package = importlib.util.find_spec("torch_anvil_stock")
    assert package is not None
    script = os.path.join(os.path.dirname(__file__), "stock_ipc.py")
    result = subprocess.run([sys.executable, "-m", "torch_anvil.stock", script], capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["child read 0..7: True", "parent reads what the child wrote: True"]


def test_anvil_installed_and_unused_changes_nothing(tmp_path):
    """Autoload is on, and the backend waits: training, pinning, loading and the accelerator are stock's."""
    answer = answers(
        """
        import os
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "1"
        import torch
        answer["waits"] = type(torch.privateuseone).__name__
        answer["accelerator"] = [str(torch.accelerator.current_accelerator()), torch.accelerator.device_count()]
        answer["privateuse1"] = torch._C._get_privateuse1_backend_name()
        weight = torch.nn.Parameter(torch.ones(8, device="cuda"))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            (weight * 2).sum().backward()
            optimizer.step()
        torch.accelerator.synchronize()
        answer["gradient"] = str(weight.grad.device)
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True)
        answer["pinned"] = [batch.is_pinned() for (batch,) in loader]
        workers = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=1)
        answer["from_workers"] = [batch.cuda().cpu().tolist() for (batch,) in workers]
        answer["modules"] = "torch_anvil" in __import__("sys").modules
        """,
        "--kernels=count",
    )
    assert answer["waits"] == "_Waiting"
    assert answer["accelerator"] == ["cuda", 2]
    assert answer["privateuse1"] == "privateuseone"
    assert answer["gradient"] == "cuda:0"
    assert answer["pinned"] == [True, True]
    assert answer["from_workers"] == [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
    assert answer["modules"] is False


def test_a_forked_child_is_refused_as_by_stock():
    answer = answers(
        """
        import os
        import torch
        reader, writer = os.pipe()
        torch.empty(1, device="cuda")
        if os.fork() == 0:
            try:
                torch.empty(1, device="cuda")
            except RuntimeError as error:
                os.write(writer, str(error).encode())
            os._exit(0)
        os.close(writer)
        answer["error"] = os.read(reader, 1000).decode()
        os.wait()
        answer["parent"] = torch.arange(3).cuda().tolist()
        """
    )
    assert "Cannot re-initialize CUDA in forked subprocess" in answer["error"]
    assert answer["parent"] == [0, 1, 2]


def test_scripts_and_modules_run_as_under_python(tmp_path):
    (tmp_path / "beside.py").write_text("value = 3\n")
    (tmp_path / "script.py").write_text(
        "import sys, beside\nprint(__name__, sys.argv[1:], beside.value, sys.modules['__main__'].__dict__ is globals())\n"
    )
    base = [sys.executable, "-m", "torch_anvil.stock"]
    script = subprocess.run([*base, str(tmp_path / "script.py"), "--lr", "1"], capture_output=True, text=True)
    assert script.stdout == "__main__ ['--lr', '1'] 3 True\n", script.stderr
    module = subprocess.run([*base, "-m", "script", "-x"], capture_output=True, text=True, cwd=tmp_path)
    assert module.stdout == "__main__ ['-x'] 3 True\n", module.stderr
    missing = subprocess.run([*base, str(tmp_path / "none.py")], capture_output=True, text=True)
    assert missing.returncode == 1
    assert missing.stderr == f"anvil: cannot open {tmp_path / 'none.py'}: No such file or directory\n"
