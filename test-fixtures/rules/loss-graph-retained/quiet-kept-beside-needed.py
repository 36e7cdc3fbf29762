"""Actor and critic share one forward: its graph waits for the loss of the policies whatever is done with the values."""
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 64)
        self.actor = nn.Linear(64, 2)
        self.critic = nn.Linear(64, 1)

    def forward(self, state):
        hidden = self.body(state)
        return self.actor(hidden).softmax(-1), self.critic(hidden)


model = ActorCritic().cuda()
optimizer = torch.optim.Adam(model.parameters())


def update(policies, values, actions, returns):
    loss = 0
    for step in range(len(policies)):
        advantage = returns[step] - values[step].detach()
        loss = loss - (policies[step].gather(1, actions[step]).log() * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def off_policy_update(replay, rounds):
    for _ in range(rounds):
        state, action, returns = replay.sample()
        policies, values = [], []
        for step in range(state.size(0)):
            policy, value = model(state[step])
            policies.append(policy)
            values.append(value)
        update(policies, values, action, returns)
