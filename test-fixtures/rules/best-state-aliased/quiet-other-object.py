"""Each round trains an object of its own; a loop that trains nothing."""
import copy

import torch
from torch import nn


def fit(model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in data:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return 0.5


def folds(datasets):
    best, best_state = 0.0, None
    for data in datasets:
        model = nn.Linear(4, 4)
        score = fit(model, data)
        if score > best:
            best = score
            best_state = model.state_dict()
    return best_state


def federated(server, clients):
    initial = server.state_dict()
    states = []
    for data in clients:
        local = copy.deepcopy(server)
        local.load_state_dict(initial)
        fit(local, data)
        states.append(local.state_dict())
    server.load_state_dict(states[0])


def choose(models, score):
    best, state = 0.0, None
    for model in models:
        if score(model) > best:
            best = score(model)
            state = model.state_dict()
    return state


def after(model, data):
    fit(model, data)
    state = model.state_dict()
    torch.save(state, "last.pt")
    return state


def fit_on_gpu(model, data):
    """`cpu()` and `cuda()` give the parameters other storage."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, best_state = float("inf"), None
    for x, y in data:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best = loss.item()
            model.cpu()
            best_state = model.state_dict()
            model.cuda()
    model.load_state_dict(best_state)
