import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def train_one_epoch(model, optimizer):
    total = 0.0
    for _ in range(3):
        inputs, labels = torch.randn(64, 64), torch.randint(0, 10, (64,))
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / 3


def main():
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best, best_weights = float("inf"), None
    for epoch in range(3):
        average = train_one_epoch(model, optimizer)
        if average < best + 100:
            best = average
            best_weights = copy.deepcopy(model.state_dict())
            print(f"epoch {epoch}: {average:.3f}")
    model.load_state_dict(best_weights)


main()
