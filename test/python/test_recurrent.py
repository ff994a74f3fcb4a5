"""LSTM and GRU, modules and cells, against the same modules on the CPU."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

# The CPU's cells round each intermediate result to the dtype; ours, as CUDA's, once at the end. A layer's result is below 1,
# its gradients below 10: a few units of the last place of half (2**-11) and bfloat16 (2**-8).
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-10, torch.float16: 2e-2, torch.bfloat16: 1.5e-1}


@pytest.fixture(autouse=True)
def no_fallback():
    with torch.anvil.forbid_fallback():
        yield


def flat(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, nn.utils.rnn.PackedSequence):
        return [result.data]
    return [tensor for part in result for tensor in flat(part)]


def assert_as_on_the_cpu(module, device, *arguments, dtype=torch.float32):
    """Results, and gradients of the arguments and the parameters."""
    outcomes = []
    for where in ("cpu", device):
        model = copy.deepcopy(module).to(where)
        tensors = [tensor.detach().to(where).requires_grad_() for tensor in arguments]
        results = flat(model(tensors[0], *([tuple(tensors[1:])] if len(tensors) > 2 else tensors[1:])))
        # Each result counts with another weight, or exchanged gradients would pass.
        sum((result.sin() * (index + 1)).sum() for index, result in enumerate(results)).backward()
        gradients = [tensor.grad for tensor in [*tensors, *model.parameters()]]
        outcomes.append([tensor.detach().cpu() for tensor in [*results, *gradients]])
    for expected, actual in zip(*outcomes, strict=True):
        torch.testing.assert_close(actual, expected, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_layer_equals_the_cpu_in_every_dtype(device, kind, dtype):
    torch.manual_seed(0)
    assert_as_on_the_cpu(kind(5, 7, dtype=dtype), device, torch.randn(4, 3, 5, dtype=dtype), dtype=dtype)


@pytest.mark.parametrize(
    "options",
    [
        {"bias": False},
        {"bidirectional": True, "num_layers": 2},
        {"batch_first": True},
        {"proj_size": 3},
        {"proj_size": 3, "bias": False, "bidirectional": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_a_layer_with_options_equals_the_cpu(device, kind, options):
    if kind is nn.GRU and "proj_size" in options:
        options = {"num_layers": 3}
    torch.manual_seed(1)
    assert_as_on_the_cpu(kind(5, 7, **options), device, torch.randn(4, 3, 5))
    assert_as_on_the_cpu(kind(5, 7, **{**options, "batch_first": False}), device, torch.randn(4, 5))


@pytest.mark.parametrize("bias", [True, False])
def test_cells_equal_the_cpu(device, bias):
    torch.manual_seed(2)
    x, h, c = torch.randn(3, 5), torch.randn(3, 7), torch.randn(3, 7)
    assert_as_on_the_cpu(nn.LSTMCell(5, 7, bias=bias), device, x, h, c)
    assert_as_on_the_cpu(nn.GRUCell(5, 7, bias=bias), device, x, h)
    assert_as_on_the_cpu(nn.GRUCell(5, 7, bias=bias), device, x[0], h[0])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_packed_sequences_equal_the_cpu(device, kind):
    torch.manual_seed(3)

    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = kind(5, 7, bidirectional=True)

        def forward(self, x):
            packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 1, 3]), enforce_sorted=False)
            result, _ = self.layer(packed)
            return nn.utils.rnn.pad_packed_sequence(result)[0]

    with torch.anvil.allow_fallback():  # sequences are packed on the host
        assert_as_on_the_cpu(Packed(), device, torch.randn(4, 3, 5))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_dropout_between_layers_depends_on_the_seed_alone(device, kind):
    layer = kind(5, 32, num_layers=2, dropout=0.5, device=device)
    x = torch.randn(4, 3, 5, device=device)

    def run(seed):
        torch.manual_seed(seed)
        return layer(x)[0]

    assert run(1).tolist() == run(1).tolist()
    assert run(1).tolist() != run(2).tolist()
    layer.eval()
    assert run(1).tolist() == run(2).tolist()


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_second_derivatives_equal_the_cpu(device, kind):
    torch.manual_seed(4)
    layer = kind(3, 2, dtype=torch.float64)
    x = torch.randn(2, 1, 3, dtype=torch.float64)
    outcomes = []
    for where in ("cpu", device):
        model, tensor = copy.deepcopy(layer).to(where), x.detach().clone().to(where).requires_grad_()
        (gradient,) = torch.autograd.grad(model(tensor)[0].sin().sum(), tensor, create_graph=True)
        gradient.pow(2).sum().backward()
        outcomes.append(tensor.grad.cpu())
    torch.testing.assert_close(outcomes[1], outcomes[0])


def test_gates_of_wrong_sizes_and_dtypes_are_errors(device):
    def gates(*sizes, dtype=torch.float32):
        return torch.ones(*sizes, device=device, dtype=dtype)

    with pytest.raises(RuntimeError, match="hidden_gates"):
        torch.ops.aten._thnn_fused_lstm_cell(gates(3, 8), gates(2, 8), gates(3, 2))
    with pytest.raises(RuntimeError, match="prev_hidden"):
        torch.ops.aten._thnn_fused_gru_cell(gates(3, 6), gates(3, 6), gates(3, 3))
    with pytest.raises(RuntimeError, match="one dtype.*Float.*Half"):
        torch.ops.aten._thnn_fused_lstm_cell(gates(3, 8), gates(3, 8, dtype=torch.float16), gates(3, 2))
