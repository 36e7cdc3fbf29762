import torch
import torch.nn as nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

OBS, ACTIONS, BATCH = 8, 5, 48


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh())
        self.choice = nn.Linear(32, ACTIONS)
        self.force = nn.Linear(32, 2)
        self.log_std = nn.Parameter(torch.zeros(2))

    def forward(self, obs):
        h = self.body(obs)
        mean = self.force(h)
        return Categorical(probs=torch.softmax(self.choice(h), -1)), Independent(Normal(mean, self.log_std.exp()), 1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)

for step in range(4):
    obs, advantage = torch.randn(BATCH, OBS), torch.randn(BATCH)
    with torch.no_grad():
        old_choice, old_force = policy(obs)
        action, force = old_choice.sample(), old_force.sample()
        several = old_choice.sample((3,))
        log_prob = old_choice.log_prob(action) + old_force.log_prob(force)
    choice, force_now = policy(obs)
    ratio = (choice.log_prob(action) + force_now.log_prob(force) - log_prob).exp()
    clipped = ratio.clamp(0.8, 1.2)
    entropy = choice.entropy() + force_now.entropy()
    divergence = kl_divergence(old_choice, choice) + kl_divergence(old_force, force_now)
    loss = -torch.min(ratio * advantage, clipped * advantage).mean() - 0.01 * entropy.mean() + 0.1 * divergence.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
    optimizer.step()
