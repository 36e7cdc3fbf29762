import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.rand(24), i % 4, torch.rand(2)


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.classes = nn.Linear(32, 4)
        self.boxes = nn.Linear(32, 2)

    def forward(self, x):
        features = self.trunk(x)
        return self.classes(features), self.boxes(features)


model = Heads()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9)
for epoch in range(1):
    for x, label, box in DataLoader(Data(), batch_size=8):
        optimizer.zero_grad()
        logits, boxes = model(x)
        class_loss = nn.functional.cross_entropy(logits, label)
        box_loss = nn.functional.l1_loss(boxes, box)
        class_loss.backward(retain_graph=True)
        box_loss.backward()
        optimizer.step()
