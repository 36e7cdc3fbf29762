"""`autograd.grad`, off, by an option, once."""
import torch
from torch import nn

model = nn.Linear(128, 10)
optimizer = torch.optim.Adam(model.parameters())


def penalty(loader, second_derivatives):
    for x, y in loader:
        x.requires_grad_(True)
        loss = nn.functional.cross_entropy(model(x), y)
        (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        total = loss + gradient.pow(2).sum()
        optimizer.zero_grad()
        total.backward(create_graph=False)
        optimizer.step()
        model(x).sum().backward(create_graph=second_derivatives)


loss = model(torch.randn(4, 128)).sum()
loss.backward(create_graph=True)
