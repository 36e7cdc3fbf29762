import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Wines(Dataset):
    def __init__(self, features, labels):
        self.features = torch.from_numpy(features).float()
        self.labels = torch.from_numpy(labels).long()

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        return self.features[index], self.labels[index]


wine = load_wine()
x_train, x_test, y_train, y_test = train_test_split(wine.data, wine.target, random_state=0)
loader = DataLoader(Wines(x_train, y_train), batch_size=10)
model = nn.Linear(13, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for features, labels in loader:
    loss = nn.functional.cross_entropy(model(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
