# The example of a physics engine: `total_loss += loss` over all minibatches of an update, then a mean for the progress.
# https://github.com/google/brax/pull/152
import torch
from torch import nn, optim


class PolicyAgent(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.policy = nn.Linear(layers[0], layers[-1])
        self.value = nn.Linear(layers[0], 1)

    def loss(self, td):
        logits = self.policy(td["observation"])
        value_loss = (self.value(td["observation"]).squeeze(-1) - td["reward"]).square().mean()
        policy_loss = -(logits * td["action"]).sum(-1).mean()
        return policy_loss + 0.25 * value_loss


def train(env, num_epochs=100, num_updates=4, num_minibatches=32):
    agent = PolicyAgent([87, 32, 16]).to("cuda")
    optimizer = optim.Adam(agent.parameters(), lr=3e-4)
    for epoch in range(num_epochs):
        total_loss = 0
        td = env.unroll(agent)
        for _ in range(num_updates):
            for minibatch in td.split(num_minibatches):
                loss = agent.loss(minibatch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total_loss += loss  # expect: graph-retained-after-backward
        print({"total_loss": total_loss / (num_updates * num_minibatches)})
