"""`torch.tensor(ys)` copies the numbers out of the list, also where both have one name."""
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.eval_net = nn.Linear(4, 2).cuda()
        self.target_net = nn.Linear(4, 2).cuda()
        self.optimizer = torch.optim.Adam(self.eval_net.parameters())

    def train(self, states, actions, rewards, following, done):
        ys = []
        values = self.target_net(following.cuda())
        for i in range(32):
            if done[i]:
                ys.append(rewards[i])
            else:
                ys.append(rewards[i] + 0.9 * torch.max(values[i]))
        chosen = torch.sum(self.eval_net(states.cuda()) * actions, dim=1)
        ys = torch.tensor(ys).to("cuda")
        loss = nn.functional.mse_loss(chosen, ys)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def train_stacked(self, states, actions, rewards, following):
        ys = []
        values = self.target_net(following.cuda())  # expect: teacher-without-no-grad
        for i in range(32):
            ys.append(rewards[i] + 0.9 * torch.max(values[i]))
        chosen = torch.sum(self.eval_net(states.cuda()) * actions, dim=1)
        ys = torch.stack(ys)
        loss = nn.functional.mse_loss(chosen, ys)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
