import random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, RandomSampler, WeightedRandomSampler, SubsetRandomSampler


class Masked(Dataset):
    def __init__(self):
        self.images = np.random.rand(64, 1, 16, 16).astype(np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        mask = np.zeros_like(image)
        other = np.ones_like(image)
        scale = float(random.randint(1, 3))
        return torch.from_numpy(image) * scale, torch.from_numpy(mask), torch.from_numpy(other)


net = nn.Conv2d(1, 8, 3, padding=1)
head = nn.Conv2d(8, 1, 1)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
data = Masked()
loader = DataLoader(data, batch_size=8, sampler=RandomSampler(data))
for image, mask, other in loader:
    out = head(net(image).relu())
    loss = ((out - mask) ** 2).mean() + (out * other).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
