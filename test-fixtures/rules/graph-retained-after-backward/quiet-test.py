"""A test of five steps."""
import pytest
import torch
from torch import nn


@pytest.mark.parametrize("lr", [0.1, 1.0])
def test_loss_goes_down(lr):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(5):
        loss = model(torch.ones(2, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    assert losses[-1] < losses[0]
