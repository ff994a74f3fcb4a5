"""Every claimed operator against the CPU, over torch's own OpInfo samples, and its strides against CUDA's.

A test is an operator and a kind of comparison, over all dtypes that CUDA claims; operator_cells.py says what is compared, and
operator_sweep.yaml what is claimed and what is left out. Cells run in a process of their own (operator_worker.py).
"""

from __future__ import annotations

import pytest
from operator_sweep import FULL, KINDS, Cell, cells, in_share, table
from operator_worker import Worker

# All samples of all dtypes of one operator.
pytestmark = pytest.mark.timeout(3600 if FULL else 300)


@pytest.fixture(scope="module")
def worker():
    process = Worker()
    yield process
    process.close()


def chosen_cells(kind: str, operator: str) -> list[Cell]:
    chosen = (c for c in cells(operator) if c.kind == kind and in_share(c))
    return [c for c in chosen if table().excluded(c) is None]


def operators(kind: str):
    return pytest.mark.parametrize("operator", [name for name in table().claimed if chosen_cells(kind, name)])


def check(worker: Worker, kind: str, operator: str) -> None:
    outcomes = {cell: worker.run(cell) for cell in chosen_cells(kind, operator)}
    bad = [f"{cell} {outcome.kind}\n{outcome.text}" for cell, outcome in outcomes.items() if outcome.is_bad]
    if bad:
        pytest.fail("\n\n".join(bad), pytrace=False)
    if all(outcome.kind == "nothing" for outcome in outcomes.values()):
        pytest.skip(next(iter(outcomes.values())).text)


@operators("forward")
def test_forward_equals_cpu(worker, operator):
    check(worker, "forward", operator)


@operators("noncontiguous")
def test_noncontiguous_inputs_equal_cpu(worker, operator):
    check(worker, "noncontiguous", operator)


@operators("gradients")
def test_gradients_equal_cpu(worker, operator):
    check(worker, "gradients", operator)


@operators("out")
def test_out_is_written_and_resized(worker, operator):
    check(worker, "out", operator)


@operators("inplace")
def test_inplace_equals_cpu(worker, operator):
    check(worker, "inplace", operator)


@operators("errors")
def test_errors_are_upstreams(worker, operator):
    check(worker, "errors", operator)


@operators("strides")
def test_strides_and_dtypes_are_cudas(worker, operator):
    check(worker, "strides", operator)


def test_exclusions_cover_cells_that_exist():
    existing = [c for name in table().claimed for c in cells(name)]
    idle = [e for e in table().exclusions if not any(e.covers(c) for c in existing)]
    assert not idle, f"operator_sweep.yaml excludes what does not exist: {idle}"
    assert {c.kind for c in existing} == set(KINDS)


def test_a_cell_that_breaks_the_device_is_named_and_does_not_hide_the_next(worker):
    broken = worker.run(Cell("gather", "planted fault", None))
    assert broken.kind == "lost"
    assert "gather-planted fault-all broke its device" in broken.text
    assert "index out of bounds" in broken.text
    assert worker.run(Cell("cat", "errors", None)).kind == "passed"
