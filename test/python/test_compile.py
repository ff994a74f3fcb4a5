"""torch.compile: Inductor refuses the device with a clear message, and goes on for the CPU; aot_eager works."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def test_inductor_is_refused_with_the_backend_that_works(device):
    with pytest.raises(Exception, match='Inductor.*anvil.*backend="aot_eager"'):
        torch.compile(lambda x: x.sin() + 1)(torch.ones(4, device=device))


def test_the_refusal_stays_when_it_is_asked_again(device):
    for _ in range(2):
        torch.compiler.reset()
        with pytest.raises(Exception, match='backend="aot_eager"'):
            torch.compile(lambda x: x * x.exp())(torch.ones(4, device=device, requires_grad=True))


def test_inductor_lowers_for_the_cpu_beside_it():
    """Without a compiler of C++ code: what Inductor generates is captured, not built."""
    from torch._inductor import compile_fx, config

    graph = torch.fx.symbolic_trace(lambda x: (x.sin() + 1,))
    with config.patch(force_disable_caches=True):
        compiled = compile_fx.compile_fx(graph, [torch.ones(4)])
    torch.testing.assert_close(compiled(torch.ones(4))[0], torch.ones(4).sin() + 1)


def test_aot_eager_trains(device):
    weight = torch.ones(4, device=device, requires_grad=True)
    torch.compile(lambda w: (w.sin() * 3).sum(), backend="aot_eager")(weight).backward()
    torch.testing.assert_close(weight.grad.cpu(), 3 * torch.ones(4).cos())
