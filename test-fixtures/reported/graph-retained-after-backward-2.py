# Policy and value losses of an actor-critic go into lists for a plot at the end.
import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional as F


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(24, 4)
        self.value = nn.Linear(24, 1)

    def forward(self, s):
        return Normal(torch.tanh(self.mu(s)), 0.5), self.value(s)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
policy_losses, value_losses = [], []

for update in range(5000):
    states, returns = torch.randn(64, 24), torch.randn(64, 1)
    distribution, values = agent(states)
    actions = distribution.sample()
    advantage = (returns - values).detach()
    policy_loss = -(distribution.log_prob(actions).sum(1, keepdim=True) * advantage).mean()
    value_loss = F.mse_loss(values, returns)
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy_losses.append(policy_loss)  # expect: graph-retained-after-backward
    value_losses.append(value_loss)  # expect: graph-retained-after-backward

print(sum(policy_losses) / len(policy_losses), sum(value_losses) / len(value_losses))
