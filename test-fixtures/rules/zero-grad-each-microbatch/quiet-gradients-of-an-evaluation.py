"""Each epoch trains, then computes gradients to look at them: the step belongs to the other loop."""
import torch
from torch import nn


def train(model, loader, optimizer):
    model.train()
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def attend(model, loader):
    model.eval()
    maps = []
    for x, _ in loader:
        score = model(x).sum()
        model.zero_grad()
        score.backward()
        maps.append(model[0].attention_gradients())
    return maps


def main(train_loader, test_loader, epochs):
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        train(model, train_loader, optimizer)
        print(len(attend(model, test_loader)))
