import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

OBS, ACTIONS, BATCH = 6, 2, 64


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, outputs))


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(OBS, 2 * ACTIONS)

    def forward(self, obs):
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = normal.rsample()
        action = torch.tanh(raw)
        log_prob = normal.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


policy = Policy()
critics = nn.ModuleList([mlp(OBS + ACTIONS, 1) for _ in range(2)])
targets = copy.deepcopy(critics)
for p in targets.parameters():
    p.requires_grad = False
log_alpha = torch.zeros(1, requires_grad=True)
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
critic_optimizer = torch.optim.Adam(critics.parameters(), lr=3e-4)
alpha_optimizer = torch.optim.Adam([log_alpha], lr=3e-4)


def lowest(models, obs, action):
    return torch.cat([model(torch.cat([obs, action], -1)) for model in models], -1).min(-1, keepdim=True)[0]


for step in range(4):
    obs, action = torch.randn(BATCH, OBS), torch.rand(BATCH, ACTIONS)
    reward, following = torch.randn(BATCH, 1), torch.randn(BATCH, OBS)
    alpha = log_alpha.exp().detach()
    with torch.no_grad():
        next_action, next_log_prob = policy(following)
        target = reward + 0.99 * (lowest(targets, following, next_action) - alpha * next_log_prob)
    critic_loss = sum(F.mse_loss(critic(torch.cat([obs, action], -1)), target) for critic in critics)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    drawn, log_prob = policy(obs)
    policy_loss = (alpha * log_prob - lowest(critics, obs, drawn)).mean()
    policy_optimizer.zero_grad()
    policy_loss.backward()
    policy_optimizer.step()

    alpha_loss = -(log_alpha * (log_prob + ACTIONS).detach()).mean()
    alpha_optimizer.zero_grad()
    alpha_loss.backward()
    alpha_optimizer.step()
    with torch.no_grad():
        for p, t in zip(critics.parameters(), targets.parameters()):
            t.mul_(0.995).add_(p, alpha=0.005)
