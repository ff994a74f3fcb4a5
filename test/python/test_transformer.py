"""Encoders and attention in evaluation, where torch.nn takes other ways than in training, against the CPU."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

PADDING = torch.tensor([[False, False, False, True, True], [False] * 5])
CAUSAL = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)

pytestmark = pytest.mark.filterwarnings("ignore:.*nested tensor", "ignore:.*has no kernel for anvil")


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("masks", [{}, {"src_key_padding_mask": PADDING}, {"mask": CAUSAL}], ids=["none", "padding", "causal"])
@pytest.mark.parametrize("grad", [False, True])
def test_an_encoder_in_evaluation_equals_the_cpu(device, norm_first, masks, grad):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=norm_first)
    model = nn.TransformerEncoder(layer, 2).eval()
    x = torch.randn(2, 5, 8)
    with torch.set_grad_enabled(grad), torch.anvil.allow_fallback():
        expected = model(x, **masks)
        result = copy.deepcopy(model).to(device)(x.to(device), **{name: mask.to(device) for name, mask in masks.items()})
    # What a padded position holds differs between torch's ways.
    counts = ~PADDING if "src_key_padding_mask" in masks else torch.ones_like(PADDING)
    torch.testing.assert_close(result.cpu()[counts], expected[counts])


@pytest.mark.parametrize("need_weights", [False, True])
def test_attention_in_evaluation_equals_the_cpu(device, need_weights):
    torch.manual_seed(0)
    model = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(2, 5, 8)
    with torch.no_grad(), torch.anvil.allow_fallback():
        expected = model(x, x, x, key_padding_mask=PADDING, need_weights=need_weights)
        ours = x.to(device)
        result = copy.deepcopy(model).to(device)(
            ours, ours, ours, key_padding_mask=PADDING.to(device), need_weights=need_weights
        )
    for actual, wanted in zip(result, expected, strict=True):
        assert (actual is None) == (wanted is None)
        if wanted is not None:
            torch.testing.assert_close(actual.cpu(), wanted)
