from collections import defaultdict

import torch
from torch import nn
from tqdm import tqdm


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=3e-4):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.history = defaultdict(list)
        self.val_loss = 0.0

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_epoch()
            self.validate()
            print(epoch, self.history["train"][-1], self.val_loss)

    def train_epoch(self):
        self.model.train()
        for x, y in tqdm(self.train_loader, desc="train"):
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.history["train"].append(loss.item())

    def validate(self):
        self.model.eval()
        self.val_loss = 0.0
        for x, y in tqdm(self.val_loader, desc="validate"):
            prediction = self.model(x)  # expect: eval-without-no-grad
            loss = self.criterion(prediction, y)
            self.val_loss += loss  # expect: loss-graph-retained
            self.history["val"].append(loss)  # expect: loss-graph-retained
        self.val_loss /= len(self.val_loader)


if __name__ == "__main__":
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
    data = [(torch.randn(32, 16), torch.randn(32, 1)) for _ in range(50)]
    Trainer(net, data, data[:10]).fit(5)
