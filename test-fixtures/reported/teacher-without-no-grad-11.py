# Soft actor-critic: value and target value are networks with optimizers of their own; the target's never steps.
# https://github.com/philtabor/Youtube-Code-Repository/issues/23
import torch as T
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class CriticNetwork(nn.Module):
    def __init__(self, beta, inputs, actions):
        super().__init__()
        self.fc1 = nn.Linear(inputs + actions, 256)
        self.q = nn.Linear(256, 1)
        self.optimizer = optim.Adam(self.parameters(), lr=beta)
        self.to("cuda")

    def forward(self, state, action):
        return self.q(F.relu(self.fc1(T.cat([state, action], dim=1))))


class ValueNetwork(nn.Module):
    def __init__(self, beta, inputs):
        super().__init__()
        self.fc1 = nn.Linear(inputs, 256)
        self.v = nn.Linear(256, 1)
        self.optimizer = optim.Adam(self.parameters(), lr=beta)
        self.to("cuda")

    def forward(self, state):
        return self.v(F.relu(self.fc1(state)))


class Agent:
    def __init__(self, memory, inputs, actions, beta=3e-4, gamma=0.99, tau=0.005, scale=2):
        self.memory, self.gamma, self.tau, self.scale = memory, gamma, tau, scale
        self.critic_1 = CriticNetwork(beta, inputs, actions)
        self.critic_2 = CriticNetwork(beta, inputs, actions)
        self.value = ValueNetwork(beta, inputs)
        self.target_value = ValueNetwork(beta, inputs)
        self.update_network_parameters(tau=1)

    def update_network_parameters(self, tau=None):
        tau = self.tau if tau is None else tau
        value = dict(self.value.named_parameters())
        target = dict(self.target_value.named_parameters())
        for name in value:
            value[name] = tau * value[name].clone() + (1 - tau) * target[name].clone()
        self.target_value.load_state_dict(value)

    def learn(self):
        state, action, reward, state_, done = (T.tensor(x).to("cuda") for x in self.memory.sample(256))
        value_ = self.target_value(state_).view(-1)  # expect: teacher-without-no-grad
        value_[done] = 0.0
        self.critic_1.optimizer.zero_grad()
        self.critic_2.optimizer.zero_grad()
        q_hat = self.scale * reward + self.gamma * value_
        q1 = self.critic_1.forward(state, action).view(-1)
        q2 = self.critic_2.forward(state, action).view(-1)
        critic_loss = 0.5 * F.mse_loss(q1, q_hat) + 0.5 * F.mse_loss(q2, q_hat)
        critic_loss.backward()
        self.critic_1.optimizer.step()
        self.critic_2.optimizer.step()
        self.update_network_parameters()
