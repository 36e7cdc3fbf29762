# "It seems that every loss just needs calling backward() once": a dialogue agent that updates after each episode.
# https://github.com/andy194673/joust/issues/4
import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self, width=300, acts=50):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, acts))
        self.optim = torch.optim.Adam(self.parameters(), lr=1e-4)

    def update(self, episode):
        self.optim.zero_grad()
        log_probs = Categorical(logits=self.policy(episode["states"].cuda())).log_prob(episode["acts"].cuda())
        update_loss = -(log_probs * episode["returns"].cuda()).mean()
        update_loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
        nn.utils.clip_grad_norm_(self.parameters(), 5.0)
        self.optim.step()
        return update_loss.item()


def train(world):
    agent = Agent().cuda()
    for epoch in range(200):
        for _ in range(100):
            episode = world.dialogue(agent)
            agent.update(episode)
