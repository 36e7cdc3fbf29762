import copy

import torch
from torch import nn


class QNetwork(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(observations, 256), nn.ReLU(), nn.Linear(256, actions))

    def forward(self, x):
        return self.layers(x)


class Agent:
    def __init__(self, observations, actions, gamma=0.99):
        self.gamma = gamma
        self.q_network = QNetwork(observations, actions).to("cuda")
        self.target_network = copy.deepcopy(self.q_network)
        self.optimizer = torch.optim.Adam(self.q_network.parameters(), lr=2.5e-4)

    def update(self, memory, batch_size):
        states, actions, rewards, next_states, dones = memory.sample(batch_size)
        q_values = self.q_network(states).gather(1, actions)
        next_q = self.target_network(next_states).max(1, keepdim=True)[0]  # expect: teacher-without-no-grad
        target = rewards + self.gamma * next_q * (1 - dones)
        loss = nn.functional.mse_loss(q_values, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self):
        self.target_network.load_state_dict(self.q_network.state_dict())


def run(agent, memory):
    for step in range(10_000):
        agent.update(memory, 128)
        if step % 500 == 0:
            agent.sync()
