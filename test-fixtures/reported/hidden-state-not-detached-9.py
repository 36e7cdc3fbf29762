# A network of a cell whose forward takes and gives both states; the policy is updated in every step of the episode.
# Form of https://github.com/pytorch/pytorch/issues/1536 with an update a step
import torch
import torch.nn as nn


class PolicyNet(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.lstm = nn.LSTMCell(layers[0], layers[1])
        self.linear = nn.Linear(layers[1], layers[2])

    def forward(self, x, h0, c0):
        h1, c1 = self.lstm(x, (h0, c0))
        return self.linear(h1), h1, c1


def train(batches, agents):
    policy_net = PolicyNet([5, 32, 4]).cuda()
    optimizer = torch.optim.Adam(policy_net.parameters())
    h = torch.zeros(agents, 32).cuda()
    c = torch.zeros(agents, 32).cuda()
    for observations, actions, returns in batches:
        logits, h, c = policy_net(observations.cuda(), h, c)  # expect: hidden-state-not-detached
        log_prob = torch.log_softmax(logits, dim=-1).gather(1, actions.cuda())
        loss = -(log_prob * returns.cuda()).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
