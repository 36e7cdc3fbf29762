"""Recurrent policies: updates of some steps each, episodes that end in between."""
import gymnasium as gym
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(4, 64)
        self.head = nn.Linear(64, 2)

    def forward(self, x, hidden):
        h, c = self.lstm(x, hidden)
        return self.head(h), (h, c)


def act(logits):
    return torch.distributions.Categorical(logits=logits)


env = gym.make("CartPole-v1")
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters())


def carried_over():
    state, _ = env.reset()
    hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
    for round in range(1000):
        log_probs, rewards = [], []
        for step in range(20):
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)  # expect: hidden-state-not-detached
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, terminated, truncated, _ = env.step(action.item())
            rewards.append(reward)
            if terminated or truncated:
                state, _ = env.reset()
                hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def detached_between():
    state, _ = env.reset()
    hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
    for round in range(1000):
        log_probs, rewards = [], []
        hidden = tuple(part.detach() for part in hidden)
        for step in range(20):
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                state, _ = env.reset()
                hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def an_episode_a_round():
    for round in range(1000):
        log_probs, rewards = [], []
        state, _ = env.reset()
        hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
        for step in range(500):
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                break
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def ends_with_the_episode():
    state, _ = env.reset()
    hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
    for round in range(1000):
        log_probs, rewards = [], []
        for step in range(500):
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                state, _ = env.reset()
                hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
                break
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def of_known_length():
    hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
    for round in range(1000):
        log_probs, rewards = [], []
        state, _ = env.reset()
        for step in range(200):
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def first_of_a_round():
    hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
    state, _ = env.reset()
    for round in range(1000):
        log_probs, rewards = [], []
        for step in range(20):
            if step == 0:
                hidden = (torch.zeros(1, 64), torch.zeros(1, 64))
            logits, hidden = policy(torch.as_tensor(state).unsqueeze(0), hidden)
            action = act(logits).sample()
            log_probs.append(torch.log_softmax(logits, -1)[:, action])
            state, reward, done, _, _ = env.step(action.item())
            rewards.append(reward)
            if done:
                state, _ = env.reset()
        loss = -(torch.cat(log_probs) * torch.tensor(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
