"""The gradients of the copy are what is wanted: a reference to compare with, an inner step of meta-learning."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(128, 64).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def compare(batches, wrapped):
    ref_model = copy.deepcopy(model)
    ref_optimizer = torch.optim.Adam(wrapped.parameters(), lr=1e-3)
    for x, y in batches:
        ref_optimizer.zero_grad()
        F.mse_loss(wrapped(x), y).backward()
        loss = F.mse_loss(ref_model(x), y)
        loss.backward()
        for p, q in zip(wrapped.parameters(), ref_model.parameters()):
            p.grad = q.grad.to(p.dtype)
        ref_optimizer.step()


def expected_gradients(x, y):
    ref_model = copy.deepcopy(model)
    F.mse_loss(ref_model(x), y).backward()
    return [p.grad.clone() for p in ref_model.parameters()]


def adapt(x, y, lr=0.01):
    old_model = copy.deepcopy(model)
    loss = F.mse_loss(old_model(x), y)
    gradients = torch.autograd.grad(loss, old_model.parameters())
    return [p - lr * g for p, g in zip(old_model.parameters(), gradients)]
