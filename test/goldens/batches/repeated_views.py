import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4, 16), torch.zeros(64)), batch_size=8)
model = nn.Linear(16, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for views, label in loader:
    batch, count, width = views.shape
    loss = model(views.view(batch * count, width)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
