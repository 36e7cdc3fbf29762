import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X = np.random.randn(100, 50, 8)
y = np.random.randint(0, 3, 100)
data = TensorDataset(torch.tensor(X, dtype=torch.float32), torch.from_numpy(y))
loader = DataLoader(data, batch_size=16)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 64, batch_first=True)
        self.fc = nn.Linear(64, 3)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])


model = Net()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
