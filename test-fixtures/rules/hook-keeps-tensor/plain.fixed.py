import torch
from torch import nn

model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
layer = nn.Linear(10, 10).cuda()
optimizer = torch.optim.Adam([*model.parameters(), *layer.parameters()])
loader = [(torch.randn(32, 128), torch.randint(10, (32,))) for _ in range(100)]
activations = []


def save_activation(module, inputs, output):
    activations.append(output.detach())  # expect: hook-keeps-tensor


layer.register_forward_hook(save_activation)

for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(layer(model(x.cuda())), y.cuda())
    loss.backward()
    optimizer.step()
