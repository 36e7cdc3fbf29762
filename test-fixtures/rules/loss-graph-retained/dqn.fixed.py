import random
from collections import deque

import gymnasium as gym
import torch
from torch import nn, optim
from torch.nn import functional as F


class QNetwork(nn.Module):
    def __init__(self, observations, actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(observations, 128), nn.ReLU(), nn.Linear(128, actions))

    def forward(self, x):
        return self.layers(x)


env = gym.make("CartPole-v1")
policy_net = QNetwork(4, 2)
target_net = QNetwork(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.Adam(policy_net.parameters(), lr=1e-3)
memory = deque(maxlen=10000)
q_history = []

for episode in range(300):
    state, _ = env.reset()
    done = False
    while not done:
        q_values = policy_net(torch.tensor(state).unsqueeze(0))
        action = q_values.argmax(dim=1).item() if random.random() > 0.1 else env.action_space.sample()
        q_history.append(q_values.max().item())  # expect: loss-graph-retained
        next_state, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        memory.append((state, action, reward, next_state, done))
        state = next_state

        if len(memory) < 64:
            continue
        states, actions, rewards, next_states, dones = zip(*random.sample(memory, 64))
        q = policy_net(torch.tensor(states)).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = target_net(torch.tensor(next_states)).max(1).values
        target = torch.tensor(rewards) + 0.99 * best * (1 - torch.tensor(dones, dtype=torch.float32))
        loss = F.smooth_l1_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"episode {episode}: mean Q {sum(q_history) / len(q_history):.3f}")
