# "If I use retain_graph=True the buffers run out of memory": the error is gone, every batch walks all before it.
# https://github.com/sgadgil6/cnslab_fmri/issues/4
import torch
from torch import nn

lstm = nn.LSTM(22, 64, batch_first=True).cuda()
linear = nn.Linear(64, 1).cuda()
optimizer = torch.optim.Adam([{"params": lstm.parameters()}, {"params": linear.parameters()}])
criterion = nn.BCEWithLogitsLoss()


def train(loader):
    hidden = (torch.randn(1, 64, 64).cuda(), torch.randn(1, 64, 64).cuda())
    for x, y in loader:
        lstm_out, hidden = lstm(x.cuda(), hidden)  # expect: hidden-state-not-detached
        loss = criterion(linear(lstm_out[:, -1, :]), y.cuda())
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
