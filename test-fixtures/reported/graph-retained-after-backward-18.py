# Running mean of the loss for the terminal states, kept on the agent.
import torch
import torch.nn as nn


class Agent:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.Adam(net.parameters())
        self.loss_ema = -1.0

    def learn(self, batch):
        loss = self.net(batch).pow(2).mean()
        self.loss_ema = 0.9 * self.loss_ema + 0.1 * loss  # expect: graph-retained-after-backward
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(loader):
    agent = Agent(nn.Linear(64, 1))
    for batch in loader:
        agent.learn(batch.cuda())
