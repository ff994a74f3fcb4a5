"""Stock ``torch.cuda`` multiplies matrices on the simulator: its cuBLAS and cuBLASLt calls reach the stand-in."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import torch

import torch_anvil

STAND_IN = pathlib.Path(torch_anvil.__file__).parent / "lib" / "libanvil_simulator_blas.so"

pytestmark = [
    pytest.mark.skipif(
        torch.version.cuda is None or not torch.version.cuda.startswith("13."),
        reason="the installed torch was not built for CUDA 13, so there is no stock torch.cuda to run",
    ),
    pytest.mark.skipif(not STAND_IN.exists(), reason="this build found no cublasLt.h, and so has no stand-in"),
]


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch_anvil.stock", *options, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def test_products_of_every_dtype_equal_the_cpu():
    run(
        """
        import torch, torch_anvil_stock
        import torch.nn.functional as F
        generator = torch.Generator().manual_seed(0)
        def close(function, *operands, **tolerance):
            actual = function(*(t.to("cuda") for t in operands)).cpu()
            torch.testing.assert_close(actual, function(*operands), **tolerance)
        # Half and bfloat16 are rounded once where the CPU rounds intermediates too.
        tolerances = {torch.half: dict(rtol=2e-3, atol=2e-3), torch.bfloat16: dict(rtol=2e-2, atol=2e-2)}
        for dtype in (torch.float, torch.double, torch.half, torch.bfloat16, torch.cfloat, torch.cdouble):
            source = torch.complex128 if dtype.is_complex else torch.float64
            a, b, c = (torch.randn(shape, generator=generator, dtype=source).to(dtype) for shape in ((5, 7), (7, 3), (3, 7)))
            tolerance = tolerances.get(dtype, {})
            close(torch.mm, a, b, **tolerance)
            close(lambda a, c: a @ c.mT, a, c, **tolerance)
            close(torch.bmm, a.expand(4, 5, 7), b.expand(4, 7, 3), **tolerance)
            close(torch.mv, a, c[0], **tolerance)
            close(torch.dot, c[0], c[1], **tolerance)
            if not dtype.is_complex:
                close(F.linear, a, c, b[0], **tolerance)
        calls = torch_anvil_stock.library_calls()
        assert calls["cublasLtMatmul"] > 0 and calls["cublasGemmEx"] > 0 and calls["cublasZgemm_v2"] > 0, calls
        """
    )


def test_linear_layers_train_and_their_weights_equal_the_cpu():
    """Where only products and copies are involved: the step of SGD is written as a product."""
    run(
        """
        import torch
        def train(device):
            generator = torch.Generator().manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(6, 8, bias=False), torch.nn.Linear(8, 4, bias=False))
            for parameter in model.parameters():
                parameter.data = torch.randn(parameter.shape, generator=generator)
            model.to(device)
            for _ in range(3):
                x, gradient = torch.randn(5, 6, generator=generator), torch.randn(5, 4, generator=generator)
                model(x.to(device)).backward(gradient.to(device))
                with torch.no_grad():
                    for parameter in model.parameters():
                        step = torch.eye(parameter.shape[0]).to(device)
                        parameter.addmm_(step, parameter.grad, alpha=-0.1)
                        parameter.grad = None
            return [parameter.detach().cpu() for parameter in model.parameters()]
        for actual, expected in zip(train("cuda"), train("cpu")):
            torch.testing.assert_close(actual, expected)
        """
    )


def test_an_unmodified_training_step_runs_through_with_counted_kernels():
    run(
        """
        import torch, torch_anvil_stock
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)).to("cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.randn(5, 6).to("cuda")
        torch.nn.functional.mse_loss(model(x), torch.zeros(5, 4).to("cuda")).backward()
        optimizer.step()
        calls = torch_anvil_stock.library_calls()
        # Forward: two layers with their bias. Backward: both weights, and the input of the second.
        products = calls["cublasLtMatmul"] + calls.get("cublasGemmEx", 0) + calls.get("cublasSgemm_v2", 0)
        assert products == 5, calls
        assert torch_anvil_stock.kernel_counts()
        """,
        "--kernels=count",
    )
