"""The end of the process: no abort and no hang, whatever is under way.

Each scenario runs several times, since what can go wrong depends on timing; the nightly run does 100 more.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest
import torch
from conftest import FULL

import torch_anvil

RUNS = 3
FORKED_RUNS = 100 if FULL else 0
CTRL_C_RUNS = 20 if FULL else 3

# Runs a program many times for one import of torch: each run is a forked child that ends as any interpreter does. The device
# is not in use before the fork, so the child may use it. A child that hangs is killed after a minute (status -SIGALRM).
FORKED = """
import json, os, signal, sys, tempfile, torch
program, runs = sys.argv[1], int(sys.argv[2])
results = []
for _ in range(runs):
    streams = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        for number, stream in enumerate(streams, 1):
            os.dup2(stream.fileno(), number)
        exec(program, globals())
        break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for stream in streams:
        stream.seek(0)
    results.append((status, *(stream.read().decode() for stream in streams)))
else:
    print(json.dumps(results))
"""

# Some 0.3 s of work on two streams, queued and not waited for.
QUEUE = """
import atexit, ctypes, sys, threading, torch
tensor = torch.ones(1 << 22, device="anvil")
side = torch.anvil.Stream()

def queue(times=60):
    global tensor
    for _ in range(times):
        tensor = (tensor * 1.0001).exp().log()
    with torch.anvil.stream(side):
        return torch.ones(1 << 22, device="anvil").exp()

kept = queue()
"""

RUNTIME = {
    "simulator": str(pathlib.Path(torch_anvil.__file__).parent / "lib" / "libanvil_simulator.so"),
    "CUDA": "libcudart.so.13",
}

# Puts a host function into a stream that runs Python, for which it has to take the GIL.
HOST_FUNCTION = """
runtime = ctypes.CDLL({runtime!r})
ran = []
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: ran.append(1) or sys.stdout.write("host function\\n"))
def launch_host_function():
    stream = ctypes.c_void_p(torch.anvil.current_stream().cuda_stream)
    assert runtime.cudaLaunchHostFunc(stream, callback, None) == 0
"""

SCENARIOS = {
    # name: (program, exit status, lines of the output)
    "queued work": (QUEUE, 0, []),
    "exception under way": (QUEUE + "raise ValueError('under way')", 1, []),
    "sys.exit under way": (QUEUE + "sys.exit(3)", 3, []),
    "exit without the interpreter's end": (QUEUE + "import os; os._exit(4)", 4, []),
    "host function that waits for Python": (QUEUE + HOST_FUNCTION + "launch_host_function()", 0, ["host function"]),
    "host function behind queued work and an exception": (
        QUEUE + HOST_FUNCTION + "launch_host_function(); kept = queue(); raise ValueError('under way')",
        1,
        ["host function"],
    ),
    "synchronisation while a host function waits for Python": (
        QUEUE + HOST_FUNCTION + "launch_host_function(); torch.anvil.synchronize(); print(len(ran))",
        0,
        ["host function", "1"],
    ),
    "work from the program's own atexit": (
        QUEUE + "atexit.register(lambda: print(torch.full((4,), 2.0, device='anvil').sum().item()))",
        0,
        ["8.0"],
    ),
    # A daemon thread that launches work is not here: torch itself aborts then, with CPU tensors too (Python before 3.14
    # unwinds the thread through torch's noexcept frames).
    "a thread that still launches work": (
        QUEUE
        + """
def launch():
    local = torch.ones(1 << 10, device="anvil")
    started.set()
    for _ in range(300):
        local = local * 1.0

started = threading.Event()
threading.Thread(target=launch).start()
started.wait()
""",
        0,
        [],
    ),
    "a thread that waits for the device": (
        QUEUE
        + """
def wait():
    started.set()
    torch.anvil.synchronize()

started = threading.Event()
threading.Thread(target=wait, daemon=True).start()
started.wait()
""",
        0,
        [],
    ),
    "objects that outlive the interpreter": (
        QUEUE
        + """
class Late:
    def __init__(self):
        self.me = self
        self.parts = torch.ones(9, device="anvil"), torch.ones(9).pin_memory(), torch.anvil.Event(), torch.anvil.Stream()
        self.parts[2].record()

    def __del__(self):
        try:
            self.parts[0].add_(1)
        except Exception:
            pass  # refused is right; an abort is not

late = sys.modules["late"] = Late()
""",
        0,
        [],
    ),
}


@pytest.mark.timeout(60 * (RUNS + FORKED_RUNS))
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_process_ends(run_python, driver, name):
    program, status, output = SCENARIOS[name]
    program = program.replace("{runtime!r}", repr(RUNTIME[driver]))

    def check(found_status, found_output, errors):
        assert found_status == status, f"{found_status}\n{errors}"
        assert found_output.splitlines() == output
        if "exception" in name:
            assert errors.splitlines()[-1] == "ValueError: under way"
        else:
            assert errors == ""

    for _ in range(RUNS):
        result = run_python(program, timeout=60)
        check(result.returncode, result.stdout, result.stderr)
    if FORKED_RUNS:
        result = run_python(FORKED, program, str(FORKED_RUNS), timeout=60 * FORKED_RUNS)
        runs = json.loads(result.stdout)
        assert len(runs) == FORKED_RUNS, result.stderr
        for run in runs:
            check(*run)


def start_interruptible(program):
    """A process that answers to SIGINT also where this one was started with SIGINT ignored, as in a shell's background."""
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.timeout(60 * CTRL_C_RUNS + 120)
def test_ctrl_c_in_a_long_wait_is_a_keyboard_interrupt(driver):
    program = QUEUE + textwrap.dedent(
        """
        kept = queue(200)
        try:
            print("waiting", flush=True)  # the signal may come at once
            torch.anvil.synchronize()
            while True:  # the signal may come after the wait
                pass
        except KeyboardInterrupt:
            print("interrupted", tensor.shape, flush=True)
        print(torch.ones(3, device="anvil").sum().item())
        """
    )
    for _ in range(CTRL_C_RUNS):
        process = start_interruptible(program)
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        try:
            output, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("the process hangs after Ctrl-C")
        assert output.splitlines() == [f"interrupted {torch.Size([1 << 22])}", "3.0"], errors
        assert process.returncode == 0


@pytest.mark.timeout(60 * CTRL_C_RUNS + 120)
def test_ctrl_c_that_nobody_catches_ends_the_process():
    program = QUEUE + "print('waiting', flush=True)\nwhile True:\n    kept = queue(20); torch.anvil.synchronize()\n"
    for _ in range(CTRL_C_RUNS):
        process = start_interruptible(program)
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("the process hangs after Ctrl-C")
        assert errors.splitlines()[-1] == "KeyboardInterrupt"
        assert process.returncode == -signal.SIGINT
