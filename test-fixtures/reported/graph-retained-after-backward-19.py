# PPO rollouts keep log probabilities with graphs for many updates.
import torch
from torch.distributions import Categorical


class Memory:
    def __init__(self):
        self.log_probs = []
        self.rewards = []


def run(env, policy):
    policy = policy.cuda()
    optimizer = torch.optim.Adam(policy.parameters())
    memory = Memory()
    state = env.reset()
    for step in range(1_000_000):
        dist = Categorical(logits=policy(torch.as_tensor(state).cuda()))
        action = dist.sample()
        state, reward, done, _ = env.step(action.item())
        loss = -dist.log_prob(action) * reward
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.log_probs.append(dist.log_prob(action))  # expect: graph-retained-after-backward
        memory.rewards.append(reward)
