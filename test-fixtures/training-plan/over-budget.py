"""Classifies CIFAR-10 with a small convolutional network.

The second paragraph is not the task.
"""
# vram: device=rtx-3060, budget=900MiB, batch=512, accumulate=2, input=float32[B,3,32,32], target=int64[B]<10
# vram: optimizer=adamw, precision=fp32, measured=128:500MiB 256:890MiB
import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms

SEED = 1234
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        )
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x).mean(dim=(2, 3)))


whole = datasets.CIFAR10("data", train=True, transform=transforms.ToTensor())
train_set, val_set = random_split(whole, [45000, 5000])
train_loader = DataLoader(train_set, batch_size=512, shuffle=True)
val_loader = DataLoader(val_set, batch_size=512)
model = Net(width=96).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for step, (images, labels) in enumerate(train_loader):
        loss = criterion(model(images.cuda()), labels.cuda()) / 2
        loss.backward()
        if step % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
