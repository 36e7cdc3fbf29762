"""A reversible block computes its own backward from the gradient that it is handed."""
import torch
from torch import nn


class ReversibleBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.Linear(width, width)

    def forward(self, x, hidden):
        return hidden + self.attention(x)

    def backward_pass(self, x, gradient):
        with torch.enable_grad():
            output = self.attention(x)
            output.backward(gradient, retain_graph=True)
        return x.grad


blocks = nn.ModuleList(ReversibleBlock(16) for _ in range(4)).cuda()


def backward_all(states, gradient):
    for block, x in zip(blocks, states):
        gradient = block.backward_pass(x.requires_grad_(), gradient)
    return gradient
