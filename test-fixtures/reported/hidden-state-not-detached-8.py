# "hidden will prevent any part of the graph from being freed": a cell walks a long sequence, and learns at every step.
# Form of https://github.com/pytorch/pytorch/issues/2198 with a backward at each step
import torch
import torch.nn as nn

lstm = nn.LSTM(10, 128).cuda()
linear = nn.Linear(128, 10).cuda()
optimizer = torch.optim.SGD([*lstm.parameters(), *linear.parameters()], lr=0.1)
criterion = nn.MSELoss()


def run(sequence):
    hidden = (torch.zeros(1, 1, 128).cuda(), torch.zeros(1, 1, 128).cuda())
    for i in sequence:
        out, hidden = lstm(i.view(1, 1, -1).cuda(), hidden)  # expect: hidden-state-not-detached
        loss = criterion(linear(out.view(1, -1)), i.view(1, -1).cuda())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
