import torch
import torch.nn as nn
import torch.optim as optim


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 20))

    def forward(self, x):
        return self.net(x)


model = Sequence()
criterion = nn.MSELoss()
x, y = torch.randn(64, 20), torch.randn(64, 20)
optimizer = optim.LBFGS(model.parameters(), lr=0.01, history_size=4, max_iter=6, tolerance_grad=0, tolerance_change=0)
for i in range(6):

    def closure():
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        return loss

    optimizer.step(closure)
