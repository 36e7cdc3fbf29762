import torch
import torch.nn as nn
from torch.distributions import Independent, Normal

net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 96))
spread = nn.Parameter(torch.zeros(96))
optimizer = torch.optim.Adam([*net.parameters(), spread], lr=1e-3)

for step in range(4):
    policy = Independent(Normal(net(torch.randn(20, 6)), nn.functional.softplus(spread)), 1)
    action = policy.rsample((3,))
    loss = policy.log_prob(action).mean() - 0.1 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
