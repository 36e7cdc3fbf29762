"""Meters in dictionaries of dictionaries, fed by a method."""
from collections import defaultdict

import torch
from torch import nn
from torch.utils.data import DataLoader


class Meter:
    def __init__(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n


class Numbers:
    def __init__(self):
        self.sum = 0.0

    def put(self, value):
        self.sum += float(value)


class Window:
    def __init__(self):
        self.items = []

    def push(self, value):
        self.items.append(value)


class Tracker:
    def __init__(self, phases, names):
        self.meters = {}
        for phase in phases:
            self.meters[phase] = {}
            for name in names:
                self.meters[phase][name] = Meter()

    def add(self, phase, values, n):
        for name, value in values.items():
            self.meters[phase][name].update(value, n)


class ByDefault:
    def __init__(self):
        self.meters = defaultdict(lambda: defaultdict(Meter))
        self.numbers = {"loss": Numbers()}
        self.windows = {"loss": Window()}

    def add(self, phase, name, value):
        self.meters[phase][name].update(value)

    def add_number(self, name, value):
        self.numbers[name].put(value)

    def add_window(self, name, value):
        self.windows[name].push(value)

    def forget(self):
        self.windows = {"loss": Window()}


class Averager:
    """Something else that is updated: an average of weights."""

    def __init__(self, averages):
        self.averages = averages

    def add(self, name, value):
        self.averages[name].update(value)


def main(data, averages):
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, batch_size=32)
    tracker = Tracker(["train", "val"], ["loss"])
    default = ByDefault()
    averager = Averager(averages)
    by_name = {"loss": Numbers()}
    plain = defaultdict(list)
    made = defaultdict(Numbers)
    for epoch in range(10):
        for x, y in loader:
            loss = criterion(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tracker.add("train", {"loss": loss}, x.size(0))  # expect: graph-retained-after-backward
            default.add("train", "loss", loss)  # expect: graph-retained-after-backward
            default.add("train", "loss", loss.detach())
            default.add("train", "loss", loss.item())
            default.add_number("loss", loss)
            default.add_window("loss", loss)
            default.forget()
            averager.add("loss", loss)
            by_name["loss"].put(loss)
            by_name["queue"].append(loss)
            plain["loss"].append(loss)  # expect: graph-retained-after-backward
            made["loss"].put(loss)
            fresh = Tracker(["train"], ["loss"])
            fresh.add("train", {"loss": loss}, x.size(0))
