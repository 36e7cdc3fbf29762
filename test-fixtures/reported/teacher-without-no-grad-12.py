# Evolvable agents: actor and critic have targets, whose values go into the critic's loss with their graph.
# https://github.com/AgileRL/AgileRL/pull/63
import copy

import torch
import torch.nn as nn
import torch.optim as optim


class DDPG:
    def __init__(self, states, actions, lr=1e-4, gamma=0.99, tau=1e-3, device="cuda"):
        self.gamma, self.tau, self.device = gamma, tau, device
        self.actor = nn.Sequential(nn.Linear(states, 256), nn.ReLU(), nn.Linear(256, actions), nn.Tanh()).to(device)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic = nn.Sequential(nn.Linear(states + actions, 256), nn.ReLU(), nn.Linear(256, 1)).to(device)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = optim.Adam(self.critic.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def learn(self, experiences):
        states, actions, rewards, next_states, dones = experiences
        q_value = self.critic(torch.cat([states, actions], 1))
        next_actions = self.actor_target(next_states)  # expect: teacher-without-no-grad
        # expect-next: teacher-without-no-grad
        q_value_next_state = self.critic_target(torch.cat([next_states, next_actions], 1))
        y_j = rewards + (1 - dones) * self.gamma * q_value_next_state
        critic_loss = self.criterion(q_value, y_j)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(torch.cat([states, self.actor(states)], 1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        for target, source in ((self.actor_target, self.actor), (self.critic_target, self.critic)):
            for t, s in zip(target.parameters(), source.parameters()):
                t.data.copy_(self.tau * s.data + (1.0 - self.tau) * t.data)
