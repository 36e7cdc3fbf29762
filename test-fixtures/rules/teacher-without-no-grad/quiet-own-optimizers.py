"""Networks that bring an optimizer of their own, all of which may step: nothing is a teacher here."""

import torch as T
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Critic(nn.Module):
    def __init__(self, lr, inputs):
        super().__init__()
        self.fc = nn.Linear(inputs, 1)
        self.optimizer = optim.Adam(self.parameters(), lr=lr)

    def forward(self, state):
        return self.fc(state)


class Twins:
    """Both step in one loop; the second began with the first one's weights."""

    def __init__(self, inputs):
        self.critic = Critic(1e-3, inputs)
        self.target_critic = Critic(1e-3, inputs)
        self.target_critic.load_state_dict(self.critic.state_dict())

    def learn(self, states, states_):
        loss = F.mse_loss(self.critic(states), self.target_critic(states_))
        for network in (self.critic, self.target_critic):
            network.optimizer.zero_grad()
        loss.backward()
        for network in (self.critic, self.target_critic):
            network.optimizer.step()


class Scaled:
    def __init__(self, inputs):
        self.critic = Critic(1e-3, inputs)
        self.ref_critic = Critic(1e-3, inputs)
        self.scaler = T.amp.GradScaler("cuda")

    def learn(self, states, states_):
        loss = F.mse_loss(self.critic(states), self.ref_critic(states_))
        self.scaler.scale(loss).backward()
        self.scaler.step(self.critic.optimizer)
        self.scaler.step(self.ref_critic.optimizer)
        self.scaler.update()


class Updating(nn.Module):
    """Steps in a method of its own."""

    def __init__(self, inputs):
        super().__init__()
        self.fc = nn.Linear(inputs, 1)
        self.optimizer = optim.Adam(self.parameters())

    def forward(self, state):
        return self.fc(state)

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


class Peers:
    def __init__(self, inputs):
        self.model = Updating(inputs)
        self.old_model = Updating(inputs)

    def learn(self, states):
        loss = F.mse_loss(self.model(states), self.old_model(states))
        loss.backward()
        self.model.update()
        self.old_model.update()


class Handed:
    """A helper steps whatever it is given."""

    def __init__(self, inputs):
        self.critic = Critic(1e-3, inputs)
        self.target_critic = Critic(1e-3, inputs)

    def step(self, network):
        network.optimizer.step()

    def learn(self, states):
        loss = F.mse_loss(self.critic(states), self.target_critic(states))
        loss.backward()
        self.step(self.critic)
        self.step(self.target_critic)


class Actor:
    """The target's values are only a baseline of numbers; the actor's own forward is what is trained."""

    def __init__(self, inputs):
        self.actor = Critic(1e-3, inputs)
        self.target_actor = Critic(1e-3, inputs)

    def learn(self, states):
        baseline = self.target_actor.forward(states).detach()
        loss = -(self.actor.forward(states) - baseline).mean()
        self.actor.optimizer.zero_grad()
        loss.backward()
        self.actor.optimizer.step()


def main(states):
    for agent in (Twins(4), Peers(4), Scaled(4)):
        print(agent)
    Handed(4).learn(states)
    Actor(4).learn(states)
