# https://github.com/pytorch/pytorch/issues/8860: NaN after a few iterations of Adam on a model in half precision.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adam


class HappyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 5)
        self.conv2 = nn.Conv2d(32, 64, 5)
        self.fc = nn.Linear(64 * 9 * 9, 7)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


def train(loader, epochs):
    net = HappyNet().cuda()
    net.half()  # expect: manual-half-cast
    optimizer = Adam(net.parameters(), lr=1e-3)
    criterion = nn.NLLLoss()
    for epoch in range(epochs):
        for images, labels in loader:
            images, labels = images.cuda().half(), labels.cuda()
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            optimizer.step()
