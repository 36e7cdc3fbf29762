import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(64):
            yield torch.zeros(5, 7), float(i)


model = nn.Linear(7, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(Stream(), batch_size=8):
    x = x.transpose(1, 2) if x.shape[-1] != 7 else x
    loss = (model(x).mean(dim=(1, 2)) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
