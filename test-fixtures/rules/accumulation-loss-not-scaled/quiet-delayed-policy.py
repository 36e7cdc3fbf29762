# Twin critics every step, the actor every second step, targets by Polyak averaging.
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1 = nn.Linear(10, 1)
        self.q2 = nn.Linear(10, 1)

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)


class TD3:
    def __init__(self):
        self.actor = nn.Sequential(nn.Linear(8, 2), nn.Tanh())
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic = Critic()
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.policy_freq = 2
        self.total_it = 0

    def select_action(self, state):
        return self.actor(torch.FloatTensor(state.reshape(1, -1))).cpu().data.numpy().flatten()

    def train(self, batch):
        self.total_it += 1
        state, action, next_state, reward = batch
        with torch.no_grad():
            q1, q2 = self.critic_target(next_state, self.actor_target(next_state))
            target = reward + 0.99 * torch.min(q1, q2)
        q1, q2 = self.critic(state, action)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic(state, self.actor(state))[0].mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for p, t in zip(self.critic.parameters(), self.critic_target.parameters()):
                t.data.copy_(0.005 * p.data + 0.995 * t.data)


if __name__ == "__main__":
    agent = TD3()
    for _ in range(1000):
        agent.train((torch.randn(64, 8), torch.randn(64, 2), torch.randn(64, 8), torch.randn(64, 1)))
