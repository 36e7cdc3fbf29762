"""AdaHessian reads second derivatives from the gradients."""
import torch
from torch import nn
from torch_optimizer import Adahessian

model = nn.Linear(128, 10)
optimizer = Adahessian(model.parameters())

for x, y in [(torch.randn(4, 128), torch.randint(10, (4,)))]:
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward(create_graph=True)
    optimizer.step()
