"""The model keeps its state from one forward to the next."""
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(10, 20)
        self.head = nn.Linear(20, 1)
        self.hidden = (torch.zeros(1, 1, 20), torch.zeros(1, 1, 20))

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)  # expect: hidden-state-not-detached
        self.hidden = tuple(part.detach() for part in self.hidden)
        return self.head(out)


model = Forecaster().cuda()
optimizer = torch.optim.Adam(model.parameters())


def train(chunks):
    for x, y in chunks:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
        loss.backward(retain_graph=True)
        optimizer.step()
