import torch
from torch import nn
from torchmetrics import Accuracy

model = nn.Linear(512, 10).cuda()
optimizer = torch.optim.Adam(model.parameters())
accuracy = Accuracy(task="multiclass", num_classes=10).cuda()


def train(train_loader, val_loader):
    for epoch in range(10):
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x.cuda()), y.cuda()).backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in val_loader:
                accuracy.update(model(x.cuda()), y.cuda())
        value = accuracy.compute()  # expect: metric-state-kept
        print(epoch, value.item())
