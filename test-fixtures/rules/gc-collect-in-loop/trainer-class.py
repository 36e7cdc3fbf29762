import gc as garbage

import torch


class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def run_step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).mean()
        loss.backward()
        self.optimizer.step()
        garbage.collect()  # expect: gc-collect-in-loop

    def fit(self):
        iterator = iter(self.loader)
        step = 0
        while step < 1000:
            self.run_step(next(iterator))
            step += 1
