"""Without gradients, through `.data`, made a leaf again, inputs instead of weights, no leaf we know."""
import torch
from torch import nn

model = nn.Linear(10, 1)
w = torch.randn(1, requires_grad=True)
v = torch.randn(1, requires_grad=True)


def no_grad(lr):
    with torch.no_grad():
        w.sub_(lr * w.grad)
        for p in model.parameters():
            p -= lr * p.grad


@torch.no_grad()
def decorated(lr):
    for p in model.parameters():
        p.add_(p.grad, alpha=-lr)


def through_data(lr):
    w.data = w.data - lr * w.grad
    w.data -= lr * w.grad
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)


def again_a_leaf(lr):
    v = torch.randn(1, requires_grad=True)
    for _ in range(10):
        v.pow(2).sum().backward()
        v = v - lr * v.grad
        v = v.detach().requires_grad_()


def attack(image, label, epsilon):
    image = image.clone().requires_grad_()
    nn.functional.cross_entropy(model(image), label).backward()
    image = image - epsilon * image.grad.sign()
    return image


def unknown(z, lr):
    z = z - lr * z.grad
    return z
