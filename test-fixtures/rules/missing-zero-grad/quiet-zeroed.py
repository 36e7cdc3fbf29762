# Every form of zeroing.
import torch
from torch import nn, optim

model = nn.Linear(10, 1)
data = [(torch.randn(8, 10), torch.randn(8, 1)) for _ in range(20)]
criterion = nn.MSELoss()


def clear(parameters):
    for p in parameters:
        p.grad = None


def by_model():
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        model.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def by_none():
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        for p in model.parameters():
            p.grad = None
        criterion(model(x), y).backward()
        optimizer.step()


def by_helper():
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        criterion(model(x), y).backward()
        optimizer.step()
        clear(model.parameters())


def by_grad_zero():
    w = torch.zeros(10, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    for x, y in data:
        (x @ w - y.squeeze(1)).pow(2).mean().backward()
        optimizer.step()
        w.grad.zero_()


def at_the_end():
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for x, y in data:
        criterion(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def by_param_groups():
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.detach_()
                    p.grad.zero_()
        criterion(model(x), y).backward()
        optimizer.step()


def several_optimizers():
    optimizers = [optim.SGD([p], lr=0.1) for p in model.parameters()]
    for x, y in data:
        for o in optimizers:
            o.zero_grad()
        criterion(model(x), y).backward()
        for o in optimizers:
            o.step()


def with_closure():
    optimizer = optim.LBFGS(model.parameters())

    for x, y in data:

        def closure():
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)


def optimizer_in_backward():
    optimizers = {p: optim.Adam([p], foreach=False) for p in model.parameters()}

    def hook(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(hook)
    for x, y in data:
        criterion(model(x), y).backward()
