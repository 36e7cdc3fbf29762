import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.head = nn.Linear(16, 100)

    def forward(self, batch, labels=None, scale=1.0):
        logits = self.head(self.embed(batch["tokens"]))
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten()) * scale


data = TensorDataset(torch.randint(0, 100, (40, 12)))
model = Tied()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (tokens,) in DataLoader(data, batch_size=8):
    loss = model({"tokens": tokens}, labels=tokens, scale=0.5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
