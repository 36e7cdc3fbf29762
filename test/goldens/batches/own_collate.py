import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset


class Sequences(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.randn(12, 4), i % 3


def collate(samples):
    sequences = torch.stack([sequence for sequence, _ in samples], dim=1)
    return sequences, torch.tensor([label for _, label in samples])


loader = DataLoader(ConcatDataset([Sequences(), Sequences()]), batch_size=7, collate_fn=collate)
model = nn.GRU(4, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for sequences, labels in loader:
        out, _ = model(sequences)
        loss = out.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
