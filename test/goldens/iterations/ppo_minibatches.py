import torch
import torch.nn as nn
from torch.distributions import Categorical

OBS, ACTIONS, STEPS, ENVIRONMENTS, MINIBATCH = 6, 4, 8, 12, 24
BATCH = STEPS * ENVIRONMENTS
device = torch.device("cpu")


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh())
        self.actor = nn.Linear(40, ACTIONS)
        self.critic = nn.Linear(40, 1)

    def forward(self, obs, action=None):
        h = self.body(obs)
        choice = Categorical(logits=self.actor(h))
        if action is None:
            action = choice.sample()
        return action, choice.log_prob(action), choice.entropy(), self.critic(h).squeeze(-1)


agent = Agent().to(device)
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
obs = torch.zeros((STEPS, ENVIRONMENTS, OBS)).to(device)
actions = torch.zeros((STEPS, ENVIRONMENTS)).to(device)
log_probs = torch.zeros((STEPS, ENVIRONMENTS)).to(device)
values = torch.zeros((STEPS, ENVIRONMENTS)).to(device)

for update in range(2):
    for t in range(STEPS):
        obs[t] = torch.randn(ENVIRONMENTS, OBS)
        with torch.no_grad():
            action, log_prob, _, value = agent(obs[t])
        actions[t], log_probs[t], values[t] = action, log_prob, value
    returns = torch.randn(STEPS, ENVIRONMENTS).to(device)
    flat_obs, flat_actions = obs.reshape(-1, OBS), actions.reshape(-1)
    flat_log_probs, flat_values, flat_returns = log_probs.reshape(-1), values.reshape(-1), returns.reshape(-1)
    del action, log_prob, value, _
    for epoch in range(2):
        order = torch.randperm(BATCH).to(device)
        for start in range(0, BATCH, MINIBATCH):
            chosen = order[start : start + MINIBATCH]
            _, new_log_prob, entropy, new_value = agent(flat_obs[chosen], flat_actions.long()[chosen])
            ratio = (new_log_prob - flat_log_probs[chosen]).exp()
            advantage = flat_returns[chosen] - flat_values[chosen]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            surrogate = torch.max(-advantage * ratio, -advantage * torch.clamp(ratio, 0.8, 1.2)).mean()
            loss = surrogate - 0.01 * entropy.mean() + 0.25 * (new_value - flat_returns[chosen]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
