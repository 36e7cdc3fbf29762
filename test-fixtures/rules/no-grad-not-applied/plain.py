import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
data = TensorDataset(torch.randn(2048, 64), torch.randint(10, (2048,)))
train_loader = DataLoader(data, batch_size=64, shuffle=True)
test_loader = DataLoader(data, batch_size=256)


def train_epoch():
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x.cuda()), y.cuda()).backward()
        optimizer.step()


def evaluate():
    model.eval()
    torch.no_grad()  # expect: no-grad-not-applied
    hits = 0
    for x, y in test_loader:
        hits += (model(x.cuda()).argmax(1) == y.cuda()).sum().item()  # expect: eval-without-no-grad
    return hits / len(data)


for epoch in range(5):
    train_epoch()
    print(epoch, evaluate())
