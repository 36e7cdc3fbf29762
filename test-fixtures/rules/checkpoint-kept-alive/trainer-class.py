import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model.to("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()
        self.optimizer.step()

    def resume_and_fit(self, path, loader):
        weights = torch.load(path, map_location="cuda", weights_only=True)  # expect: checkpoint-kept-alive
        self.model.load_state_dict(weights)
        for x, y in loader:
            self.step(x, y)
