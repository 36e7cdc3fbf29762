# Kept on purpose: a later backward goes through every one of them.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 128)
        self.actor = nn.Linear(128, 2)
        self.critic = nn.Linear(128, 1)
        self.saved = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.body(x))
        return F.softmax(self.actor(x), dim=-1), self.critic(x)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-2)


def select_action(state):
    probs, value = policy(torch.from_numpy(state).float())
    m = Categorical(probs)
    action = m.sample()
    policy.saved.append((m.log_prob(action), value))
    return action.item()


def finish_episode():
    R = 0
    policy_losses = []
    value_losses = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    for (log_prob, value), R in zip(policy.saved, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved[:]


def main(env):
    for episode in range(1000):
        state, _ = env.reset()
        for t in range(1, 10000):
            state, reward, done, _, _ = env.step(select_action(state))
            policy.rewards.append(reward)
            if done:
                break
        finish_episode()
