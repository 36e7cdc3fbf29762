import math

import torch
import torch.nn as nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, Dataset


class MyAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                    state["slow"] = p.detach().clone()
                state["step"] += 1
                state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = state["exp_avg_sq"].sqrt().add_(group["eps"])
                step_size = group["lr"] / (1 - math.pow(beta1, state["step"]))
                p.addcdiv_(state["exp_avg"], denom, value=-step_size)
        return loss


class Data(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        return torch.rand(20), torch.rand(3)


net = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = MyAdam(net.parameters())
for epoch in range(1):
    for x, y in DataLoader(Data(), batch_size=12):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
