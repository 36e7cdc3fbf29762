"""A test looks at what autocast does; it trains nothing."""
import pytest
import torch
from torch import nn


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_under_autocast(dtype):
    layer = nn.Linear(2, 1)
    with torch.autocast("cpu", dtype=dtype):
        loss = layer(torch.randn(1, 2)).mean()
        loss.backward()
    assert layer.weight.grad is not None
