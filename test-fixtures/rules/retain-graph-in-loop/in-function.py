"""The step is a function or a method of its own, which a loop calls."""

import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())


def step(x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
    optimizer.step()
    return loss.item()


def returns_the_loss(x, y):
    """Whoever called it may walk the graph again."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward(retain_graph=True)
    optimizer.step()
    return loss


def given_a_loss(loss):
    """The graph was made elsewhere."""
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()


def run_once(x, y):
    F.cross_entropy(model(x), y).backward(retain_graph=True)


def train(loader):
    for x, y in loader:
        print(step(x, y))
        again = returns_the_loss(x, y)
        again.backward()
        out = F.cross_entropy(model(x), y)
        given_a_loss(out)
        given_a_loss(out)


class Agent:
    def __init__(self):
        self.critic = nn.Linear(8, 1).cuda()
        self.actor = nn.Linear(8, 2).cuda()
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())

    def learn(self, states, rewards):
        critic_loss = F.mse_loss(self.critic(states), rewards)
        self.critic_optimizer.zero_grad()
        critic_loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
        self.critic_optimizer.step()
        actor_loss = -self.actor(states).log_softmax(-1).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

    def learn_together(self, states, rewards):
        """The second backward comes to the critic's graph as well."""
        values = self.critic(states)
        critic_loss = F.mse_loss(values, rewards)
        critic_loss.backward(retain_graph=True)
        actor_loss = -(self.actor(states).log_softmax(-1) * values).mean()
        actor_loss.backward()

    def run(self, memory):
        for states, rewards in memory:
            self.learn(states, rewards)
            self.learn_together(states, rewards)


run_once(torch.randn(4, 128), torch.zeros(4))
