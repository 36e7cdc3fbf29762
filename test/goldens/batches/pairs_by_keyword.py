import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, count):
        self.left = torch.randn(count, 3, 8, 8)
        self.mask = torch.ones(count, 8, dtype=torch.bool)

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        return {"left": self.left[i], "mask": self.mask[i]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, left, mask=None):
        return self.conv(left)


def step(model, batch):
    batch = {key: value.to("cpu") for key, value in batch.items()}
    return model(**batch).mean()


model = Net()
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(Pairs(30), batch_size=6)
for batch in loader:
    loss = step(model, batch)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
