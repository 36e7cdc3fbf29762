# Statements that do switch gradients off, contexts that are entered later, and a function of this file with that name.
import contextlib

import torch
from torch import nn


def no_grad():
    torch.set_grad_enabled(False)


def autocast(enabled):
    return torch.autocast("cuda") if enabled else contextlib.nullcontext()


model = nn.Linear(4, 4)
torch.set_grad_enabled(False)
print(model(torch.rand(1, 4)))
torch.set_grad_enabled(True)

torch.no_grad().__enter__()
print(model(torch.rand(1, 4)))
torch.set_grad_enabled(True)

no_grad()
print(model(torch.rand(1, 4)))
torch.set_grad_enabled(True)

stack = contextlib.ExitStack()
stack.enter_context(torch.inference_mode())
print(model(torch.rand(1, 4)))
stack.close()

context = torch.no_grad()
with context:
    print(model(torch.rand(1, 4)))

with autocast(False), torch.no_grad() as nothing:
    print(model(torch.rand(1, 4)))

without_gradients = torch.no_grad()(model.forward)
print(without_gradients(torch.rand(1, 4)))


@torch.no_grad()
def initialise(module):
    if isinstance(module, nn.Linear):
        module.weight.fill_(1.0)


model.apply(initialise)


def choose(training):
    return contextlib.nullcontext() if training else torch.no_grad()


with choose(training=False):
    print(model(torch.rand(1, 4)))
