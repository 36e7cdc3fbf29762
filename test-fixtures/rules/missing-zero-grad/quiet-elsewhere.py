# Zeroing happens in a method of the class, in a wrapper of the optimizer, or in an imported function that is handed the
# optimizer.
import torch
from torch import nn

from engine import prepare_update, reset_gradients, zero_grad


class WarmupOptimizer:
    """Sets the rate, steps and zeroes."""

    def __init__(self, optimizer, width, warmup):
        self.optimizer = optimizer
        self.width = width
        self.warmup = warmup
        self.steps = 0

    def step(self):
        self.steps += 1
        rate = self.width**-0.5 * min(self.steps**-0.5, self.steps * self.warmup**-1.5)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()


class Model:
    def __init__(self):
        self.net = nn.Linear(16, 16)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def forward(self, x):
        self.loss = (self.net(x) - x).abs().mean()

    def reset(self):
        self.optimizer.zero_grad()

    def optimize_parameters(self, x):
        self.forward(x)
        self.reset()
        self.loss.backward()
        self.optimizer.step()


def train_wrapped(batches):
    net = nn.Linear(16, 16)
    optimizer = WarmupOptimizer(torch.optim.Adam(net.parameters()), width=16, warmup=400)
    for x in batches:
        (net(x) - x).abs().mean().backward()
        optimizer.step()


def train_imported(batches):
    net = nn.Linear(16, 16)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in batches:
        reset_gradients(optimizer)
        (net(x) - x).abs().mean().backward()
        optimizer.step()


def train_model(batches):
    model = Model()
    for x in batches:
        model.optimize_parameters(x)


class ParameterLists:
    """The helper of another package is given the parameters, not the optimizer."""

    def __init__(self, model):
        self.model = model
        self.model_params = list(model.parameters())
        self.opt = torch.optim.AdamW(self.model_params, lr=1e-4)

    def fit(self, loader):
        for x, y in loader:
            zero_grad(self.model_params)
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.opt.step()

    def fit_otherwise(self, loader):
        for x, y in loader:
            prepare_update(self.model_params)
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.opt.step()


def fit_with_helper(model, loader, master_params):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        zero_grad(master_params)
        torch.nn.functional.mse_loss(model(x), y).backward()
        opt.step()
