import torch
from models import Corrector
from recurrent import Recurrent
from torch import nn
from utils import advance


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def train(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x.cuda()), y.cuda())
            loss.backward(retain_graph=True)  # expect: retain-graph-in-loop
            self.optimizer.step()


Trainer(Corrector()).train(train_loader)

model = Recurrent().cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in train_loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
    loss.backward(retain_graph=True)
    optimizer.step()

# The backward that frees the activations stands in a function of another file.
kept = []
for x, y in train_loader:
    loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
    advance(optimizer, loss)
    kept.append(loss)  # expect: graph-retained-after-backward
