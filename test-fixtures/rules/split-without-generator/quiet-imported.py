# Whoever imports the file and calls `main` sets the seed.
import torch
from torch.utils.data import DataLoader, random_split


def main(dataset):
    train_set, val_set = random_split(dataset, [0.9, 0.1])
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        return sum(torch.nn.functional.mse_loss(model(x), y).item() for x, y in DataLoader(val_set))
