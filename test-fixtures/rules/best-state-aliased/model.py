# The best model is the model itself: later steps change it, and what is tested is the last one.
import copy

import torch
import torch.nn.functional as F
from torch import nn


def build():
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3)).cuda()


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(x.cuda()).argmax(1) == y.cuda()).sum().item() for x, y in loader)
    model.train()
    return right


def train(model, loader, val_loader, optimizer, epochs):
    best, best_model = 0.0, None
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.cuda()), y.cuda())
            loss.backward()
            optimizer.step()
        score = accuracy(model, val_loader)
        if score > best:
            best = score
            best_model = model  # expect: best-state-aliased
    return best_model


class Trainer:
    def __init__(self, model):
        self.model = model
        self.best_model = None
        self.best_score = 0.0
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def fit(self, loader, val_loader):
        for epoch in range(10):
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x.cuda()), y.cuda())
                loss.backward()
                self.optimizer.step()
            score = accuracy(self.model, val_loader)
            if score > self.best_score:
                self.best_score = score
                self.best_model = self.model  # expect: best-state-aliased

    def predict(self, x):
        with torch.no_grad():
            return self.best_model(x)


def copied(model, loader, val_loader, optimizer):
    best, best_model = 0.0, model
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        score = accuracy(model, val_loader)
        if score > best:
            best, best_model = score, copy.deepcopy(model)
    return best_model


def one_for_each_rate(loader, val_loader):
    best, best_model = 0.0, None
    for rate in (0.1, 0.01, 0.001):
        model = build()
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        score = accuracy(model, val_loader)
        if score > best:
            best = score
            best_model = model
    return best_model


def one_of_many(models, loader, val_loader):
    best, best_model = 0.0, None
    for model in models:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        score = accuracy(model, val_loader)
        if score > best:
            best = score
            best_model = model
    return best_model


def saved_at_once(model, loader, val_loader, optimizer):
    best = 0.0
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        score = accuracy(model, val_loader)
        if score > best:
            best = score
            best_model = model
            torch.save(best_model.state_dict(), "best.pt")


def stops_at_the_first(model, loader, val_loader, optimizer):
    best_model = None
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        if accuracy(model, val_loader) > 0.9:
            best_model = model
            break
    return best_model
