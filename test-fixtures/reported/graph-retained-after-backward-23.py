# Reinforcement learning sums a return with value estimates over episodes.
import torch


def train(value, env, episodes=1000):
    value = value.cuda()
    optimizer = torch.optim.Adam(value.parameters())
    total = 0
    for episode in range(episodes):
        state = torch.as_tensor(env.reset()).cuda()
        estimate = value(state).squeeze()
        target = env.rollout()
        loss = (estimate - target) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + estimate  # expect: graph-retained-after-backward
        print(total / (episode + 1))
