"""Runs cells of the operator sweep in a process of its own.

A kernel that fails leaves the device useless for the rest of its process, and host code that touches device memory ends it:
so cells run in a worker, the cell that did it is named, and the next one gets a fresh worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

# A cell of the full sweep takes seconds; one that takes this long hangs.
TIMEOUT_SECONDS = 200


@dataclass
class Outcome:
    """``kind`` is passed, nothing, failed, or lost: the process or its device did not survive the cell."""

    kind: str
    text: str = ""

    @property
    def is_bad(self) -> bool:
        return self.kind in ("failed", "lost")


class Worker:
    """A process that runs cells, replaced when a cell breaks it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._connection: Connection | None = None

    def run(self, cell) -> Outcome:
        if self._process is None:
            self._start()
        try:
            self._connection.send(cell)
            if not self._connection.poll(TIMEOUT_SECONDS):
                return self._lost(f"{cell} did not end within {TIMEOUT_SECONDS} s")
            outcome: Outcome = self._connection.recv()
        except (EOFError, OSError):
            self._process.wait()
            return self._lost(f"{cell} ended its process with status {self._process.returncode}")
        if outcome.kind == "lost":
            return self._lost(f"{cell} broke its device\n{outcome.text}")
        return outcome

    def close(self) -> None:
        if self._process is not None:
            self._connection.close()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _start(self) -> None:
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the worker)
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"import operator_worker; operator_worker.serve({theirs.fileno()})"],
                cwd=Path(__file__).parent,
                env={"ANVIL_FALLBACK": "allow", **os.environ},
                pass_fds=[theirs.fileno()],
                stderr=self._stderr,
            )

    def _lost(self, text: str) -> Outcome:
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._process = None
        self._stderr.seek(0)
        said = [line for line in self._stderr.read().splitlines() if "anvil" in line or "device-side" in line]
        return Outcome("lost", "\n".join([text, *said[-8:]]))


def serve(descriptor: int) -> None:
    """Answers cells with outcomes until the other end closes."""
    import torch
    from operator_cells import CHECKS
    from operator_census import census_of
    from operator_comparison import Nothing

    def planted_fault(cell) -> None:
        torch.ones(2, device="privateuseone:0").gather(0, torch.tensor([5]).to("privateuseone:0"))

    checks = CHECKS | {"census": census_of, "planted fault": planted_fault}

    with Connection(descriptor) as connection:
        while True:
            try:
                cell = connection.recv()
            except EOFError:
                return
            try:
                outcome = checks[cell.kind](cell) or Outcome("passed")
            except Nothing as nothing:
                outcome = Outcome("nothing", str(nothing))
            except BaseException:
                outcome = Outcome("failed", traceback.format_exc(limit=-4))
            try:
                torch.anvil.synchronize()
                torch.ones(1, device="privateuseone:0").add_(1).cpu()
            except RuntimeError as error:
                outcome = Outcome("lost", f"{outcome.text}\n{error}")
            connection.send(outcome)
