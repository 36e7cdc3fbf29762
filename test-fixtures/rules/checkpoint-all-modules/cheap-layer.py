import torch
import torch.utils.checkpoint as checkpointing
from torch import nn


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.act = nn.ReLU()
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        x = checkpointing.checkpoint(self.act, self.norm(x), use_reentrant=False)  # expect: checkpoint-all-modules
        return self.fc(x)


def train(steps=100):
    model = nn.Sequential(nn.Linear(32, 256), Head(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for _ in range(steps):
        x, y = torch.randn(64, 32), torch.randint(10, (64,))
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    train()
