"""For predictions only: nothing that runs after this import keeps a graph."""
import torch

from .network import Net

torch.set_grad_enabled(False)
net = Net()
