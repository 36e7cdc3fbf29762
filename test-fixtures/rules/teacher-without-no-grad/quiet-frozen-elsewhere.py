"""Frozen by a helper, or together with the copy of its weights."""
import torch
import torch.nn.functional as F
from torch import nn

from project import freeze

online = nn.Linear(128, 64).cuda()
target = nn.Linear(128, 64).cuda()
teacher = nn.Linear(128, 64).cuda()
freeze(teacher)
for p, q in zip(online.parameters(), target.parameters()):
    q.data.copy_(p.data)
    q.requires_grad = False
optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)


def invert(loader):
    """The inputs are what is trained: gradients go through the model to them."""
    ref_model = nn.Linear(128, 64).cuda().eval()
    x = torch.randn(8, 128, device="cuda", requires_grad=True)
    input_optimizer = torch.optim.Adam([x], lr=0.1)
    for y in loader:
        loss = F.mse_loss(ref_model(x), y)
        input_optimizer.zero_grad()
        loss.backward()
        input_optimizer.step()


for a, b in [(torch.randn(8, 128), torch.randn(8, 128))]:
    loss = F.mse_loss(online(a.cuda()), target(b.cuda())) + F.mse_loss(online(b.cuda()), teacher(a.cuda()))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
