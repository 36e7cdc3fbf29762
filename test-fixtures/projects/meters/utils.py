import torch
from collections import deque


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


class TensorMeter:
    def __init__(self):
        self.sum = 0

    def update(self, val, n=1):
        if isinstance(val, torch.Tensor):
            val = val.item()
        self.sum += val * n


class Detaching:
    def __init__(self):
        self.values = []

    def update(self, val):
        self.values.append(val.detach())


class Window:
    def __init__(self):
        self.values = deque(maxlen=20)

    def update(self, val):
        self.values.append(val)


class Listing:
    def __init__(self):
        self.values = []

    def add(self, val):
        self.values.append(val)


class Rollout:
    def __init__(self):
        self.log_probs = []
        self.rewards = []

    def add(self, log_prob, reward):
        self.log_probs.append(log_prob)
        self.rewards.append(reward)

    def loss(self):
        return -(torch.stack(self.log_probs) * torch.tensor(self.rewards)).sum()
