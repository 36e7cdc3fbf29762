"""The update is part of the graph on purpose."""
import torch

w = torch.randn(10, requires_grad=True)


def inner_step(x, y, lr):
    w = torch.randn(10, requires_grad=True)
    loss = (x @ w - y).pow(2).mean()
    loss.backward(create_graph=True)
    w = w - lr * w.grad
    return (x @ w - y).pow(2).mean()
