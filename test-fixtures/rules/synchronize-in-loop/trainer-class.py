from torch.cuda import synchronize
from torch import nn, optim


class Trainer:
    def __init__(self, loader):
        self.net = nn.Linear(8, 8).cuda()
        self.optimizer = optim.Adam(self.net.parameters())
        self.loader = loader

    def fit(self):
        iterator = iter(self.loader)
        while True:
            batch = next(iterator)
            with self.net.no_sync():
                self.net(batch).mean().backward()
                synchronize()  # expect: synchronize-in-loop
            self.optimizer.step()
            self.optimizer.zero_grad()
            synchronize()  # expect: synchronize-in-loop
