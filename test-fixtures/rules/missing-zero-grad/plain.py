import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.linspace(-3, 3, 1000).unsqueeze(1)
y = torch.sin(x) + 0.1 * torch.randn_like(x)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)

model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(100):
    epoch_loss = 0.0
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()  # expect: missing-zero-grad
        epoch_loss += loss.item()
    print(epoch, epoch_loss / len(loader))
