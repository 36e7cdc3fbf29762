"""A handful of written-out rounds is no pile."""
import torch
from torch import nn
from torch.nn import functional as F

critic = nn.Linear(8, 1).cuda()
generator = nn.Linear(4, 8).cuda()
critic_optimizer = torch.optim.RMSprop(critic.parameters())
layer = nn.Linear(10, 5)


def check_rows():
    x = torch.randn(1, 4, 10)
    out = []
    for item in x:
        out.append(F.log_softmax(layer(item), dim=-1))
    assert torch.all(torch.stack(out) == F.log_softmax(layer(x), dim=-1))


def train(loader):
    seen = 0
    critic_rounds = 5
    for real in loader:
        step = 0
        distance = 0
        while step < critic_rounds:
            step += 1
            critic.zero_grad()
            with torch.no_grad():
                fake = generator(torch.randn(len(real), 4).cuda())
            error = critic(fake).mean() - critic(real).mean()
            error.backward()
            critic_optimizer.step()
            distance += error
        seen += distance.item()
    return seen


check_rows()
train(loader)
