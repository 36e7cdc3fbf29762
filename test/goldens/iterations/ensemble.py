import torch
import torch.nn as nn
import torch.nn.functional as F

members = [nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)) for _ in range(5)]
optimizers = [torch.optim.Adam(member.parameters(), lr=1e-3) for member in members]

for step in range(4):
    inputs, labels = torch.randn(32, 64), torch.randint(0, 10, (32,))
    for member, optimizer in zip(members, optimizers):
        loss = F.cross_entropy(member(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
