"""``torch.use_deterministic_algorithms``: what is deterministic raises no alert and repeats to the bit; the rest alerts."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F

ALERT = "does not have a deterministic implementation"


@pytest.fixture(autouse=True)
def restored_mode():
    mode = torch.get_deterministic_debug_mode()
    yield
    torch.set_deterministic_debug_mode(mode)


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to("anvil")


def integers(high, *shape):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(1)).to("anvil")


def gradient(operation, x):
    x = x.detach().requires_grad_()
    result = operation(x)
    result.backward(normal(*result.shape, seed=2))
    return x.grad


def target(classes, *shape):
    return integers(classes, *shape)


# On CUDA some of these alert, see docs/determinism.md. Sums of many numbers in few places would show an order that changes.
DETERMINISTIC = {
    "nll_loss2d": lambda: F.nll_loss(normal(4, 5, 64, 65), target(5, 4, 64, 65)),
    "nll_loss2d weighted sum": lambda: F.nll_loss(
        normal(4, 5, 64, 65), target(5, 4, 64, 65), normal(5, seed=3).abs(), reduction="sum"
    ),
    "adaptive_avg_pool2d backward": lambda: gradient(lambda x: F.adaptive_avg_pool2d(x, (5, 7)), normal(3, 4, 33, 31)),
    "scatter_reduce sum": lambda: normal(50).scatter_reduce(0, integers(50, 100_000), normal(100_000), "sum"),
    "scatter_reduce mean": lambda: normal(50).scatter_reduce(0, integers(50, 100_000), normal(100_000), "mean"),
    "scatter_reduce amax": lambda: normal(50).scatter_reduce(0, integers(50, 100_000), normal(100_000), "amax"),
    "scatter reduce=add": lambda: normal(50).scatter(0, integers(50, 100_000), normal(100_000), reduce="add"),
    "cumsum": lambda: normal(300_000).cumsum(0),
    "index_put accumulate": lambda: normal(50, 3).index_put((integers(50, 50_000),), normal(50_000, 3), accumulate=True),
    "index_put": lambda: normal(50).index_put((integers(50, 50_000),), normal(50_000)),
    "index_add": lambda: normal(50, 3).index_add(0, integers(50, 50_000), normal(50_000, 3)),
    "index_copy": lambda: normal(50).index_copy(0, integers(50, 50_000), normal(50_000)),
    "scatter": lambda: normal(50).scatter(0, integers(50, 50_000), normal(50_000)),
    "scatter_add": lambda: normal(50).scatter_add(0, integers(50, 100_000), normal(100_000)),
    "put_ accumulate": lambda: normal(50).put_(integers(50, 50_000), normal(50_000), accumulate=True),
    "gather backward": lambda: gradient(lambda x: x.gather(0, integers(50, 50_000)), normal(50)),
    "index_select backward": lambda: gradient(lambda x: x.index_select(0, integers(50, 50_000)), normal(50, 3)),
    "index backward": lambda: gradient(lambda x: x[integers(50, 50_000)], normal(50, 3)),
    "embedding backward": lambda: gradient(lambda x: F.embedding(integers(50, 50_000), x), normal(50, 3)),
    "max_pool2d backward": lambda: gradient(lambda x: F.max_pool2d(x, 3, 1), normal(3, 4, 33, 31)),
    "avg_pool2d backward": lambda: gradient(lambda x: F.avg_pool2d(x, 3, 1), normal(3, 4, 33, 31)),
    "sum": lambda: normal(300_000).sum(),
    "batch_norm backward": lambda: gradient(lambda x: F.batch_norm(x, None, None, training=True), normal(9, 3, 65, 65)),
    "layer_norm backward": lambda: gradient(lambda w: F.layer_norm(normal(5_000, 33), (33,), w), normal(33)),
}

ALERTS = {
    "scatter_reduce prod": lambda: normal(50).scatter_reduce(0, integers(50, 1_000), normal(1_000), "prod"),
    "scatter reduce=multiply": lambda: normal(50).scatter(0, integers(50, 1_000), normal(1_000), reduce="multiply"),
    "put_": lambda: normal(50).put_(integers(50, 1_000), normal(1_000)),  # which of several values stays
}


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_a_deterministic_operator_repeats_to_the_bit_without_an_alert(name):
    torch.use_deterministic_algorithms(True)
    with torch.anvil.forbid_fallback():
        first, *others = [DETERMINISTIC[name]().cpu().view(torch.int32) for _ in range(3)]
    assert all(torch.equal(first, other) for other in others)


@pytest.mark.parametrize("name", ALERTS)
def test_an_operator_in_no_fixed_order_alerts(name):
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match=ALERT):
        ALERTS[name]()
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match=ALERT):
        ALERTS[name]()
    torch.use_deterministic_algorithms(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ALERTS[name]()
