import torch
import torch.nn as nn

OBS, ACTIONS, STEPS, MINIBATCH = 10, 3, 64, 16


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, ACTIONS))

    def forward(self, x):
        return torch.log_softmax(self.net(x), dim=-1)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS, 48), nn.Tanh(), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


actor, critic = Actor(), Critic()
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4, eps=1e-5)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)

for update in range(3):
    obs = torch.randn(STEPS, OBS)
    actions = torch.randint(0, ACTIONS, (STEPS, 1))
    returns = torch.randn(STEPS)
    old_log_probs = torch.randn(STEPS)
    advantages = returns - returns.mean()
    for epoch in range(2):
        for start in range(0, STEPS, MINIBATCH):
            end = start + MINIBATCH
            log_probs = actor(obs[start:end])
            ratio = torch.exp(log_probs.gather(1, actions[start:end]).squeeze(1) - old_log_probs[start:end])
            surrogate = torch.min(ratio * advantages[start:end], torch.clamp(ratio, 0.8, 1.2) * advantages[start:end])
            entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
            actor_loss = -surrogate.mean() - 0.01 * entropy
            actor_optimizer.zero_grad()
            actor_loss.backward()
            nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
            actor_optimizer.step()
            critic_loss = 0.5 * (critic(obs[start:end]) - returns[start:end]).pow(2).mean()
            critic_optimizer.zero_grad()
            critic_loss.backward()
            critic_optimizer.step()
