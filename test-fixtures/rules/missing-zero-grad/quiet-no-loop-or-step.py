# No step, no loop, or no accumulated gradient: nothing has to be zeroed.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1))


def one_step(x):
    optimizer = torch.optim.Adam(model.parameters())
    model(x).mean().backward()
    optimizer.step()


def gradient_norms(batches):
    norms = []
    for x in batches:
        model(x).mean().backward()
        norms.append(sum(p.grad.norm().item() for p in model.parameters()))
    return norms


def inner_loop(x, steps=5, lr=0.1):
    z = x.clone().requires_grad_(True)
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(model(z).sum(), z)
        z = (z - lr * gradient).detach().requires_grad_(True)
    return z


def functional(x, y, steps=100):
    params = dict(model.named_parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = (model(x) - y).pow(2).mean()
        grads = torch.autograd.grad(loss, list(params.values()))
        for p, g in zip(params.values(), grads):
            p.grad = g
        optimizer.step()


def simulate(environment, agent, scheduler):
    for _ in range(1000):
        state, reward, done = environment.step(agent.act(environment.state))
        scheduler.step()


if __name__ == "__main__":
    one_step(torch.rand(4, 6))
    print(gradient_norms([torch.rand(4, 6)]), inner_loop(torch.rand(4, 6)))
