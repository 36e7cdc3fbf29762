import torch.nn.functional as F

from engine.steps import forward_step  # steps imports this module too


def total_loss(model, batch):
    return F.mse_loss(forward_step(model, batch), batch["target"])


def _hidden(model, batch):
    return total_loss(model, batch)
