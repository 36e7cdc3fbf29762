"""The discriminator is told to detach what it is given."""
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(784, 1)

    def forward(self, x, detach=False):
        return self.body(x.detach() if detach else x)


generator = nn.Linear(100, 784).cuda()
critic = Critic().cuda()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
optimizer_d = torch.optim.Adam(critic.parameters(), lr=2e-4)
loader = [torch.randn(64, 784) for _ in range(100)]

for real in loader:
    images = generator(torch.randn(64, 100).cuda())

    optimizer_d.zero_grad()
    loss_d = critic(images, detach=True).mean() - critic(real.cuda()).mean()
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = -critic(images).mean()
    loss_g.backward()
    optimizer_g.step()
