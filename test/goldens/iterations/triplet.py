import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Triplets(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.rand(3, 20, 20), torch.rand(3, 20, 20), torch.rand(3, 20, 20)


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 12, 5), nn.PReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 20, 3), nn.PReLU())
        self.fc = nn.Linear(20 * 6 * 6, 16)

    def forward(self, x):
        return nn.functional.normalize(self.fc(self.conv(x).view(x.size(0), -1)))


model = Embedding()
loss_fn = nn.TripletMarginLoss(margin=1.0)
optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-2)
for epoch in range(1):
    losses = []
    for anchor, positive, negative in DataLoader(Triplets(), batch_size=4):
        optimizer.zero_grad()
        a, p, n = model(anchor), model(positive), model(negative)
        loss = loss_fn(a, p, n)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
