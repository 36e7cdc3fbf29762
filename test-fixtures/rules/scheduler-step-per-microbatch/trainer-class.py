# The length is a number of updates; helpers do the backward and the update.
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR


class Trainer:
    def __init__(self, config, model, batches):
        self.config = config
        self.model = model
        self.batches = batches
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
        updates = math.ceil(len(batches) / config["accumulate"]) * config["epochs"]
        self.lr_scheduler = OneCycleLR(self.optimizer, max_lr=config["lr"], total_steps=updates)

    def forward_backward(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        (loss / self.config["accumulate"]).backward()

    def fit(self):
        for epoch in range(self.config["epochs"]):
            for step, (x, y) in enumerate(self.batches, start=1):
                self.forward_backward(x, y)
                self.lr_scheduler.step()  # expect: scheduler-step-per-microbatch
                if step % self.config["accumulate"] == 0 or step == len(self.batches):
                    self.optimizer.step()
                    self.optimizer.zero_grad()


data = [(torch.randn(4, 20), torch.randint(5, (4,))) for _ in range(250)]
Trainer({"lr": 0.1, "accumulate": 16, "epochs": 10}, nn.Linear(20, 5), data).fit()
