import pytest
import torch

from layers import Pool


@pytest.mark.parametrize("size", [1, 2])
def test_backward(size):
    with torch.autograd.set_detect_anomaly(True):
        for _ in range(2):
            Pool(size)(torch.randn(4, 4, requires_grad=True)).sum().backward()
