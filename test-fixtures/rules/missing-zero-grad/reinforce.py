import argparse

import gymnasium as gym
import torch
from torch.distributions import Categorical
from torch.nn import Linear, ReLU, Sequential, Softmax
from torch.optim import Adam

parser = argparse.ArgumentParser(description="REINFORCE")
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--episodes", type=int, default=500)
args = parser.parse_args()

env = gym.make("CartPole-v1")
policy = Sequential(Linear(4, 128), ReLU(), Linear(128, 2), Softmax(dim=-1))
optimizer = Adam(policy.parameters(), lr=1e-2)


def play():
    log_probs, rewards = [], []
    state, _ = env.reset()
    done = False
    while not done:
        m = Categorical(policy(torch.as_tensor(state)))
        action = m.sample()
        log_probs.append(m.log_prob(action))
        state, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        done = terminated or truncated
    return log_probs, rewards


for episode in range(args.episodes):
    log_probs, rewards = play()
    R, returns = 0.0, []
    for r in reversed(rewards):
        R = r + args.gamma * R
        returns.insert(0, R)
    loss = -(torch.stack(log_probs) * torch.tensor(returns)).sum()
    loss.backward()
    optimizer.step()  # expect: missing-zero-grad
