import torch
from torch import nn
from torchvision import models

model = models.resnet18(weights="DEFAULT")
model.fc = nn.Linear(model.fc.in_features, 10)
model = model.cuda()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.01)  # expect: backbone-not-frozen


def train(loader):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
