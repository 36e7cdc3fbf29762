# Methods of a model are judged by who calls them: gradients off, a result that keeps its graph, nobody seen.
import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(10, 10)

    def forward(self, x):
        return self.net(x)

    def generate(self, x, steps):
        for _ in range(steps):
            x = self(x.float()).argmax(-1, keepdim=True).expand(-1, 10)  # expect: eval-without-no-grad
        return x.argmax(-1)

    def predict(self, x, steps):
        for _ in range(steps):
            x = self(x.float()).argmax(-1, keepdim=True).expand(-1, 10)
        return x.argmax(-1)

    def translate(self, x, steps):
        for _ in range(steps):
            x = self(x)
        return x

    def sample(self, x, steps):
        for _ in range(steps):
            x = self(x.float()).argmax(-1, keepdim=True).expand(-1, 10)
        return x.argmax(-1)


model = Sampler().cuda()
print(model.generate(torch.zeros(1, 10).cuda(), 100))
with torch.no_grad():
    print(model.predict(torch.zeros(1, 10).cuda(), 100))
print(model.translate(torch.zeros(1, 10).cuda(), 100))
