import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return [torch.rand(3, 12, 12) for _ in range(2)], 0


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.projector = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        return self.projector(self.encoder(x))


def info_nce_loss(features, n_views, temperature=0.07):
    batch = features.shape[0] // n_views
    labels = torch.cat([torch.arange(batch) for i in range(n_views)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    similarity = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    positives_mask = labels.masked_fill(mask, 0.0)
    logits = (similarity / temperature).masked_fill(mask, -1e9)
    log_prob = F.log_softmax(logits, dim=1)
    return -(log_prob * positives_mask).sum(dim=1).mean()


model = SimCLR()
optimizer = torch.optim.Adam(model.parameters(), 3e-4, weight_decay=1e-4)
for epoch in range(1):
    for images, _ in DataLoader(Views(), batch_size=4):
        images = torch.cat(images, dim=0)
        features = model(images)
        loss = info_nce_loss(features, 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
