import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

k = 8
data = TensorDataset(torch.randn(4096, 3, 32, 32), torch.randint(10, (4096,)))
loader = DataLoader(data, batch_size=4, shuffle=True, drop_last=True)
model = nn.Sequential(
    nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for i, (x, y) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0:  # expect: batchnorm-in-accumulation
        optimizer.step()
        optimizer.zero_grad()
