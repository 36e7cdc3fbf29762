"""Detached, made without gradients, trained by this very step, or one pass for both steps."""
import torch
from torch import nn

from project import set_requires_grad

generator = nn.Linear(100, 784).cuda()
discriminator = nn.Linear(784, 1).cuda()
encoder = nn.Linear(784, 100).cuda()
optimizer_g = torch.optim.Adam(generator.parameters())
optimizer_d = torch.optim.Adam(discriminator.parameters())
both = torch.optim.Adam([{"params": generator.parameters()}, {"params": encoder.parameters()}])
criterion = nn.BCEWithLogitsLoss()


def detached(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        with torch.no_grad():
            others = generator(torch.randn(64, 100).cuda())
        loss_d = criterion(discriminator(images.detach()), fake) + criterion(discriminator(others), fake)
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_d.step()
        loss_g = criterion(discriminator(images), valid)
        optimizer_g.zero_grad()
        loss_g.backward()
        optimizer_g.step()


def one_step_for_both(loader):
    for real, valid, fake in loader:
        loss = criterion(discriminator(generator(torch.randn(64, 100).cuda())), valid)
        optimizer_d.zero_grad()
        optimizer_g.zero_grad()
        loss.backward()
        optimizer_d.step()
        optimizer_g.step()


def steps_at_the_end(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        loss_d = criterion(discriminator(images.detach()), fake)
        loss_d.backward()
        loss_g = criterion(discriminator(images), valid)
        loss_g.backward()
        optimizer_d.step()
        optimizer_g.step()
        optimizer_d.zero_grad()
        optimizer_g.zero_grad()


def autoencoder(loader):
    for real, valid, fake in loader:
        restored = generator(encoder(real))
        loss = nn.functional.mse_loss(restored, real)
        both.zero_grad()
        loss.backward()
        both.step()
        loss_d = criterion(discriminator(restored.detach()), fake)
        optimizer_d.zero_grad()
        loss_d.backward()
        optimizer_d.step()


def one_pass_for_both(loader):
    for real, valid, fake in loader:
        images = generator(torch.randn(64, 100).cuda())
        score = discriminator(images)
        loss_d = criterion(score, fake)
        loss_g = criterion(score, valid)
        optimizer_d.zero_grad()
        loss_d.backward(retain_graph=True)
        optimizer_g.zero_grad()
        loss_g.backward()
        optimizer_d.step()
        optimizer_g.step()


# The critic's own step takes actions from a memory; the policy's step gives it fresh ones through the same `forward`.
class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mu = torch.nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, state):
        return torch.tanh(self.mu(state))

    def learn(self, critic, batch):
        state, _, _ = batch
        action = self.forward(state)
        loss = -critic(state, action)
        self.optimizer.zero_grad()
        loss.mean().backward()
        self.optimizer.step()


class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.of_state = torch.nn.Linear(3, 64)
        self.of_action = torch.nn.Linear(1, 64)
        self.out = torch.nn.Linear(64, 1)
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, state, action):
        return self.out(torch.relu(self.of_state(state) + self.of_action(action)))

    def learn(self, batch):
        state, action, target = batch
        loss = torch.nn.functional.smooth_l1_loss(self.forward(state, action), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def learn_both(memory):
    policy, critic = Policy(), Critic()
    for _ in range(1000):
        batch = memory.sample(32)
        critic.learn(batch)
        policy.learn(critic, batch)
