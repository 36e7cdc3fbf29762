"""A test wraps a toy model to see what becomes of it."""
import pytest
import torch
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing


@pytest.mark.gpu
def test_wrapping():
    model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    apply_activation_checkpointing(model)
    assert len(list(model.modules())) == 5
