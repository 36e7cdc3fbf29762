import torch
from torch import nn

net = nn.Linear(16, 16)
critic = nn.Linear(16, 1)
lbfgs = torch.optim.LBFGS(net.parameters())
adam = torch.optim.Adam(critic.parameters())
x = torch.randn(64, 16)

for step in range(100):

    def closure():
        # expect-next: zero-grad-keeps-memory
        lbfgs.zero_grad()
        loss = critic(net(x)).mean()
        loss.backward()
        return loss

    lbfgs.step(closure)
    critic.zero_grad(set_to_none=False)  # expect: zero-grad-keeps-memory
    (-critic(net(x).detach())).mean().backward()
    adam.step()
