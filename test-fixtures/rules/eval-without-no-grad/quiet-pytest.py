"""Helpers of a test suite."""
import pytest
import torch
from torch import nn


class AdapterTester:
    def check_merge(self, model_id, device):
        if model_id is None:
            pytest.skip("no model")
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
        model.eval()
        before = model(torch.ones(2, 4, device=device))[0]
        model.merge()
        after = model(torch.ones(2, 4, device=device))[0]
        assert torch.allclose(before, after)
