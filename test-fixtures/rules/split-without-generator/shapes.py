# Lengths that are computed, scikit-learn's split, a renamed import, and a run that goes on from a checkpoint.
import torch
import torch.utils.data as data
from sklearn.model_selection import train_test_split
from torch.utils.data import random_split as split_at_random

TRAIN = 0.8


class Trainer:
    def __init__(self, dataset, files):
        size = int(TRAIN * len(dataset))
        self.train_set, self.val_set = data.random_split(dataset, (size, len(dataset) - size))  # expect: split-without-generator
        self.names = train_test_split(files, test_size=0.2)  # expect: split-without-generator
        self.more = split_at_random(dataset, [10, len(dataset) - 10], generator=None)  # expect: split-without-generator
        self.model = torch.nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def fit(self):
        for x, y in data.DataLoader(self.train_set, batch_size=32):
            self.optimizer.zero_grad()
            torch.nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()


if __name__ == "__main__":
    trainer = Trainer(data.TensorDataset(torch.randn(1000, 8), torch.randn(1000, 1)), list(range(1000)))
    trainer.resume("last.pt")
    trainer.fit()
