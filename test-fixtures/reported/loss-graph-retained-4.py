# Mean of the squared error over the whole evaluation, as a running mean in an attribute.
import torch
from torch import nn


class Tester(object):
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.mse = 0
        self.n = 0

    def test(self):
        self.model.eval()
        for x, y in self.loader:
            output = self.model(x)  # expect: eval-without-no-grad
            error = ((output - y) ** 2).mean()
            self.mse = (self.mse * self.n + error) / (self.n + 1)  # expect: loss-graph-retained
            self.n += 1
        return self.mse.item()


loader = [(torch.randn(32, 4), torch.randn(32, 1)) for _ in range(1000)]
print(Tester(nn.Sequential(nn.Linear(4, 512), nn.ReLU(), nn.Linear(512, 1)), loader).test())
